#include "base/below.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/text.h"

namespace sandglass {

Result<Root> Root::open(const std::string& path) {
  int fd = ::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return fail_errno(errno, "cannot open the directory " + shown(path));
  return Root(Fd(fd));
}

int Root::try_open(std::string_view relative, int flags) const {
  const std::string path(relative.empty() ? std::string_view(".") : relative);
  if (path.find('\0') != std::string::npos) {
    errno = EINVAL;
    return -1;
  }
  open_how how{};
  how.flags = static_cast<uint64_t>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS;
  for (;;) {
    int fd = static_cast<int>(::syscall(SYS_openat2, fd_.get(), path.c_str(), &how, sizeof how));
    if (fd >= 0 || (errno != EAGAIN && errno != EINTR)) return fd;
  }
}

Result<Fd> Root::open_below(std::string_view relative, int flags) const {
  int fd = try_open(relative, flags);
  if (fd < 0) return fail_errno(errno, "cannot open " + shown(relative));
  return Fd(fd);
}

// The directory a name lies in, as a descriptor, and the last component.
static Fd parent_of(const Root& root, std::string_view relative, std::string& name) {
  size_t slash = relative.rfind('/');
  std::string_view dir = slash == std::string_view::npos ? "" : relative.substr(0, slash);
  name = slash == std::string_view::npos ? relative : relative.substr(slash + 1);
  return Fd(root.try_open(dir, O_PATH | O_DIRECTORY));
}

bool Root::stat_below(std::string_view relative, struct stat& out) const {
  if (relative.empty()) return ::fstat(fd_.get(), &out) == 0;
  std::string name;
  Fd dir = parent_of(*this, relative, name);
  return dir && ::fstatat(dir.get(), name.c_str(), &out, AT_SYMLINK_NOFOLLOW) == 0;
}

static Result<FileBytes> read_link(int dir, const std::string& name, const struct stat& st,
                                   uint64_t cap) {
  FileBytes out;
  out.mode = st.st_mode;
  out.bytes.resize(static_cast<size_t>(st.st_size > 0 ? st.st_size + 1 : 4096));
  ssize_t n = ::readlinkat(dir, name.c_str(), out.bytes.data(), out.bytes.size());
  if (n < 0) return fail_errno(errno, "cannot read the link " + shown(name));
  out.full_size = static_cast<uint64_t>(n);
  out.bytes.resize(static_cast<size_t>(std::min<uint64_t>(out.full_size, cap)));
  return out;
}

static Result<FileBytes> read_file(Fd fd, std::string_view relative, uint64_t cap) {
  struct stat st;
  if (::fstat(fd.get(), &st) < 0) return fail_errno(errno, "cannot stat " + shown(relative));
  if (!S_ISREG(st.st_mode)) return fail(Fault::invalid, shown(relative) + " is not a file");
  FileBytes out;
  out.mode = st.st_mode;
  out.full_size = static_cast<uint64_t>(st.st_size);
  out.bytes.resize(static_cast<size_t>(std::min<uint64_t>(out.full_size, cap)));
  size_t have = 0;
  for (;;) {  // the file may grow or shrink while it is read
    if (have == out.bytes.size()) {
      if (have >= cap) break;
      out.bytes.resize(static_cast<size_t>(std::min<uint64_t>(cap, have + 65536)));
    }
    ssize_t n = ::read(fd.get(), out.bytes.data() + have, out.bytes.size() - have);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail_errno(errno, "cannot read " + shown(relative));
    if (n == 0) break;
    have += static_cast<size_t>(n);
  }
  out.bytes.resize(have);
  out.full_size = std::max<uint64_t>(have, have < cap ? have : out.full_size);
  return out;
}

Result<FileBytes> Root::read(std::string_view relative, uint64_t cap) const {
  std::string name;
  Fd dir = parent_of(*this, relative, name);
  if (!dir) return fail_errno(errno, "cannot open the directory of " + shown(relative));
  struct stat st;
  if (::fstatat(dir.get(), name.c_str(), &st, AT_SYMLINK_NOFOLLOW) < 0)
    return fail_errno(errno, "cannot stat " + shown(relative));
  if (S_ISLNK(st.st_mode)) return read_link(dir.get(), name, st, cap);
  if (!S_ISREG(st.st_mode)) return fail(Fault::invalid, shown(relative) + " is not a file");
  // O_NONBLOCK: a FIFO put there since the stat must not hang us; read_file then refuses it.
  int fd =
      ::openat(dir.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return fail_errno(errno, "cannot open " + shown(relative));
  return read_file(Fd(fd), relative, cap);
}

}  // namespace sandglass
