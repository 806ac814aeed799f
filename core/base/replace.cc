#include "base/replace.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/hash.h"
#include "base/text.h"

namespace sandglass {

namespace {

constexpr unsigned kNoReplace = 1, kExchange = 2;  // RENAME_* of renameat2(2)
constexpr mode_t kExecute = 0111;

struct Spot {
  Fd dir;
  std::string name, spare;  // the name, and a temporary one beside it
};

std::string_view parent_of(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

Result<Fd> open_directory(const Root& root, std::string_view path, bool make) {
  const int how = O_RDONLY | O_DIRECTORY;
  Fd fd(root.try_open(path, how));
  if (fd) return fd;
  if (!make || errno != ENOENT || path.empty())
    return fail_errno(errno, "cannot open the directory " + shown(path));
  auto above = open_directory(root, parent_of(path), true);
  if (!above) return above;
  const std::string name(path.substr(path.rfind('/') + 1));
  if (::mkdirat(above->get(), name.c_str(), 0777) < 0 && errno != EEXIST)
    return fail_errno(errno, "cannot make the directory " + shown(path));
  struct stat st {};
  if (::geteuid() == 0 && ::fstat(above->get(), &st) == 0)
    (void)!::fchownat(above->get(), name.c_str(), st.st_uid, st.st_gid, AT_SYMLINK_NOFOLLOW);
  return root.open_below(path, how);
}

Result<Spot> spot_of(const Root& root, std::string_view path, bool make) {
  auto dir = open_directory(root, parent_of(path), make);
  if (!dir) return tl::unexpected(dir.error());
  return Spot{std::move(*dir), std::string(path.substr(path.rfind('/') + 1)),
              ".sandglass-" + random_hex(8)};
}

int rename_in(const Spot& at, const std::string& from, const std::string& to, unsigned flags) {
  return static_cast<int>(
      ::syscall(SYS_renameat2, at.dir.get(), from.c_str(), at.dir.get(), to.c_str(), flags));
}

bool look(const Spot& at, const std::string& name, struct stat& out) {
  return ::fstatat(at.dir.get(), name.c_str(), &out, AT_SYMLINK_NOFOLLOW) == 0;
}

// A rename moves ctime; nothing else may differ.
bool same(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_mode == b.st_mode &&
         a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec &&
         a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

tl::unexpected<Error> came_between(std::string_view path) {
  return fail(Fault::busy, shown(path) + " was changed at this moment; it was left as it is");
}

// Somebody else's file has the spare name. Where it cannot have its own again it is at least kept.
Status give_back(Spot& at, std::string_view path, unsigned flags) {
  if (rename_in(at, at.spare, at.name, flags) == 0) return came_between(path);
  const std::string kept = std::exchange(at.spare, std::string());
  return fail(Fault::busy, shown(path) + " was changed at this moment; what came is kept as " +
                               shown(kept) + " beside it");
}

Status make_spare(const Spot& at, std::string_view path, const NewContent& content,
                  const std::optional<struct stat>& old) {
  const std::string what = "cannot write " + shown(path);
  struct stat owner {};
  if (old)
    owner = *old;
  else if (::fstat(at.dir.get(), &owner) < 0)
    return fail_errno(errno, what);
  if (S_ISLNK(content.mode)) {
    const std::string target(content.bytes);
    if (target.empty() || target.find('\0') != std::string::npos)
      return fail(Fault::corrupt, what + ": the link's target is no path");
    if (::symlinkat(target.c_str(), at.dir.get(), at.spare.c_str()) < 0)
      return fail_errno(errno, what);
  } else {
    const mode_t mode = content.mode & 07777;
    const Fd fd(::openat(at.dir.get(), at.spare.c_str(),
                         O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
    if (!fd) return fail_errno(errno, what);
    if (Status written = write_all(fd.get(), content.bytes); !written) return written;
    if (old && S_ISREG(old->st_mode)) {
      const mode_t readers = (old->st_mode & 0444) >> 2;
      const mode_t execute = (mode & 0100) ? (old->st_mode & kExecute) | readers : 0;
      if (::fchmod(fd.get(), (old->st_mode & 0777 & ~kExecute) | execute) < 0)
        return fail_errno(errno, what);
    }
  }
  if (::geteuid() == 0 && ::fchownat(at.dir.get(), at.spare.c_str(), owner.st_uid, owner.st_gid,
                                     AT_SYMLINK_NOFOLLOW) < 0)
    return fail_errno(errno, what);
  return {};
}

// The spare, which is new, takes the name; afterwards it is what had the name before.
Status put_spare(Spot& at, std::string_view path, const std::optional<struct stat>& old) {
  if (!old) {
    if (rename_in(at, at.spare, at.name, kNoReplace) == 0) return {};
    if (errno == EEXIST) return came_between(path);
    return fail_errno(errno, "cannot write " + shown(path));
  }
  if (rename_in(at, at.spare, at.name, kExchange) < 0) {
    if (errno == ENOENT) return came_between(path);
    if (errno != EINVAL) return fail_errno(errno, "cannot write " + shown(path));
    struct stat now {};  // a file system that cannot exchange
    if (!look(at, at.name, now) || !same(now, *old)) return came_between(path);
    if (rename_in(at, at.spare, at.name, 0) == 0) return {};
    return fail_errno(errno, "cannot write " + shown(path));
  }
  struct stat out {};
  if (look(at, at.spare, out) && same(out, *old)) return {};
  return give_back(at, path, kExchange);
}

}  // namespace

Result<std::optional<struct stat>> look_below(const Root& root, std::string_view path) {
  struct stat st {};
  if (root.stat_below(path, st)) return std::optional<struct stat>(st);
  if (errno == ENOENT || errno == ENOTDIR) return std::optional<struct stat>();
  return fail_errno(errno, "cannot look at " + shown(path));
}

Status replace_below(const Root& root, std::string_view path, const NewContent& content,
                     const std::optional<struct stat>& expected) {
  if (expected && S_ISDIR(expected->st_mode))
    return fail(Fault::exists, shown(path) + " is a directory");
  auto at = spot_of(root, path, true);
  if (!at) return tl::unexpected(at.error());
  Status done = make_spare(*at, path, content, expected);
  if (done) done = put_spare(*at, path, expected);
  if (!at->spare.empty()) ::unlinkat(at->dir.get(), at->spare.c_str(), 0);
  return done;
}

Status remove_below(const Root& root, std::string_view path, const struct stat& expected) {
  if (S_ISDIR(expected.st_mode)) return fail(Fault::exists, shown(path) + " is a directory");
  auto at = spot_of(root, path, false);
  if (!at) return tl::unexpected(at.error());
  struct stat out {};
  if (rename_in(*at, at->name, at->spare, kNoReplace) < 0)
    return errno == ENOENT ? came_between(path) : fail_errno(errno, "cannot remove " + shown(path));
  if (!look(*at, at->spare, out) || !same(out, expected)) return give_back(*at, path, kNoReplace);
  if (::unlinkat(at->dir.get(), at->spare.c_str(), 0) < 0)
    return fail_errno(errno, "cannot remove " + shown(path));
  for (std::string_view dir = parent_of(path); !dir.empty(); dir = parent_of(dir)) {
    auto above = open_directory(root, parent_of(dir), false);
    const std::string name(dir.substr(dir.rfind('/') + 1));
    if (!above || ::unlinkat(above->get(), name.c_str(), AT_REMOVEDIR) < 0) break;
  }
  return {};
}

}  // namespace sandglass
