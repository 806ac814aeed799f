// A repository made with the real git, under a configuration of the test's own.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "git/content.h"
#include "support/temp_dir.h"

namespace sandglass::git {

struct GitRun {
  int code = -1;
  std::string out;
};

// Runs git in `directory` with neutral configuration; `input` becomes its stdin.
GitRun run_git(const std::string& directory, std::vector<std::string> arguments,
               const std::string& input = "");

class Repo {
 public:
  explicit Repo(const std::vector<std::string>& init_options = {});

  const std::string& path() const { return dir_.path(); }
  std::string operator/(const std::string& name) const { return dir_ / name; }
  void write(const std::string& name, const std::string& bytes) const { dir_.write(name, bytes); }
  std::string read(const std::string& name) const { return dir_.read(name); }
  void remove(const std::string& name) const;
  // Expects success and gives what git printed.
  std::string git(std::vector<std::string> arguments, const std::string& input = "") const;
  void commit_all(const std::string& message = "all") const;

 private:
  testing::TempDir dir_;
};

// Pins the baseline as it is now and opens the accessors.
std::unique_ptr<Content> open_content(const std::string& workspace, ContentOptions options = {});

// Of SANDGLASS_SEED, or a new one; printed, so that a failure can be had again.
uint32_t property_seed(const char* test);

}  // namespace sandglass::git
