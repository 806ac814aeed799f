// Stands before tests/support/temp_dir.h where the provider contract is built for the sample
// `twin`: its sandbox is a private copy, so what a test puts into the directory once the sandbox is
// there goes into the copy. The copies lie below TMPDIR, which main() makes for this process alone.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace sandglass::testing {

class TempDir {
 public:
  TempDir() {
    std::string pattern = std::string(std::getenv("TMPDIR")) + "/source-XXXXXX";
    if (!::mkdtemp(pattern.data())) throw std::runtime_error("mkdtemp failed");
    path_ = pattern;
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  // What the sandbox is made from.
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return place() + "/" + name; }
  void write(const std::string& name, const std::string& bytes) const {
    const std::filesystem::path file = *this / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
  }
  std::string read(const std::string& name) const {
    std::ifstream in(*this / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  // The copy made from path_, where there is one: `about` ends with what it was copied from.
  std::string place() const {
    const std::string copies =
        std::string(std::getenv("TMPDIR")) + "/sandglass-twin-" + std::to_string(::geteuid());
    std::error_code none;
    for (const auto& copy : std::filesystem::directory_iterator(copies, none)) {
      std::ifstream in(copy.path() / "about", std::ios::binary);
      const std::string about{std::istreambuf_iterator<char>(in), {}};
      if (about.ends_with('\0' + path_ + '\0')) return (copy.path() / "tree").string();
    }
    return path_;
  }
  std::string path_;
};

}  // namespace sandglass::testing
