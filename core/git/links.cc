#include "git/links.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/below.h"
#include "base/clock.h"
#include "git/needed.h"
#include "git/place.h"

namespace sandglass::git {

namespace {

constexpr size_t kMostPacks = 512, kMostLoose = 4'000'000;
constexpr uint64_t kMostCopied = 100u << 20;  // of one loose object

std::vector<std::string> names_in(const Root& root, const std::string& directory) {
  std::vector<std::string> out;
  Fd fd(root.try_open(directory, O_RDONLY | O_DIRECTORY));
  DIR* dir = fd ? ::fdopendir(fd.get()) : nullptr;
  if (!dir) return out;
  fd.release();
  while (const dirent* entry = ::readdir(dir)) out.emplace_back(entry->d_name);
  ::closedir(dir);
  return out;
}

Fd make_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) < 0 && errno != EEXIST) return {};
  return Fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
}

// A link to a regular file; the link of anything else is taken away again.
bool link_file(int from, const std::string& name, int to, const std::string& as) {
  if (::linkat(from, name.c_str(), to, as.c_str(), 0) < 0) return false;
  struct stat st;
  if (::fstatat(to, as.c_str(), &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode)) return true;
  ::unlinkat(to, as.c_str(), 0);
  errno = EINVAL;
  return false;
}

bool copy_file(int from, const std::string& name, int to) {
  static constexpr int kFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  const Fd in(::openat(from, name.c_str(), kFlags));
  struct stat st;
  if (!in || ::fstat(in.get(), &st) < 0 || !S_ISREG(st.st_mode)) return false;
  if (static_cast<uint64_t>(st.st_size) > kMostCopied) return false;
  std::string bytes(static_cast<size_t>(st.st_size), '\0');
  const ssize_t got = ::pread(in.get(), bytes.data(), bytes.size(), 0);
  if (got != st.st_size) return false;
  const Fd out(::openat(to, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0400));
  return out && write_all(out.get(), bytes);
}

class Linker {
 public:
  Linker(std::string folder, int64_t until_ns) : folder_(std::move(folder)), until_ns_(until_ns) {}

  void packs(const Root& objects) {
    const Fd from(objects.try_open("pack", O_RDONLY | O_DIRECTORY));
    if (!from) return;
    const Fd to = make_directory(folder_ + "/pack");
    for (const std::string& name : names_in(objects, "pack")) {
      if (!name.starts_with("pack-") || !name.ends_with(".idx")) continue;
      if (made_ >= kMostPacks) return miss();
      const std::string as = "pack-" + std::to_string(made_++);
      const std::string stem = name.substr(0, name.size() - 4);
      // The index last: with it the pack counts.
      if (link_file(from.get(), stem + ".pack", to.get(), as + ".pack") &&
          link_file(from.get(), stem + ".idx", to.get(), as + ".idx"))
        continue;
      if (refuses(errno))
        refused_ = true;
      else if (errno != ENOENT)  // a pack without its file was none before
        miss();
    }
  }

  void loose(const Root& objects, const std::vector<LinkSource>& needed) {
    std::vector<Oid> there = all_loose(objects);
    if (there.empty()) return;
    std::vector<Oid> wanted;
    for (const LinkSource& source : needed)
      each_needed(*source.snapshot, source.prefix, [&](const Oid& id, ObjectType) {
        if (std::binary_search(there.begin(), there.end(), id)) wanted.push_back(id);
        if (mono_ns() < until_ns_) return true;
        miss();
        return false;
      });
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    for (auto at = wanted.begin(); at != wanted.end();) {
      const auto end =
          std::find_if(at, wanted.end(), [&](const Oid& o) { return o[0] != (*at)[0]; });
      keep(objects, at, end);
      at = end;
    }
  }

  Linking result() const {
    return missed_ ? Linking::part : refused_ ? Linking::refused : Linking::all;
  }

 private:
  using Iterator = std::vector<Oid>::const_iterator;

  static bool refuses(int code) {
    return code == EXDEV || code == EPERM || code == EACCES || code == EMLINK || code == EOPNOTSUPP;
  }
  void miss() { missed_ = true; }

  std::vector<Oid> all_loose(const Root& objects) {
    std::vector<Oid> out;
    for (const std::string& first : names_in(objects, "")) {
      if (first.size() != 2 || first[0] == '.') continue;
      for (const std::string& rest : names_in(objects, first)) {
        const auto id = parse_oid(first + rest);
        if (!id) continue;
        if (out.size() >= kMostLoose) return miss(), out;
        out.push_back(*id);
      }
    }
    std::sort(out.begin(), out.end());
    return out;
  }

  // Those of one directory.
  void keep(const Root& objects, Iterator at, Iterator end) {
    const std::string first = to_hex(*at).substr(0, 2);
    const Fd from(objects.try_open(first, O_RDONLY | O_DIRECTORY));
    const Fd to = make_directory(folder_ + "/" + first);
    if (!from || !to) return miss();
    for (; at != end; ++at) {
      const std::string name = to_hex(*at).substr(2);
      if (link_file(from.get(), name, to.get(), name) || errno == EEXIST) continue;
      if (!refuses(errno) || mono_ns() > until_ns_ || !copy_file(from.get(), name, to.get()))
        miss();
    }
  }

  const std::string folder_;
  const int64_t until_ns_;
  size_t made_ = 0;
  bool refused_ = false, missed_ = false;
};

}  // namespace

Linking link_objects(const std::vector<std::string>& directories,
                     const std::vector<LinkSource>& needed, const std::string& folder,
                     int64_t until_ns) {
  if (!make_directory(folder)) return Linking::part;
  Linker linker(folder, until_ns);
  for (const std::string& path : directories) {
    const Result<Root> objects = open_exact(path);
    if (!objects) continue;
    linker.packs(*objects);
    linker.loose(*objects, needed);
  }
  return linker.result();
}

}  // namespace sandglass::git
