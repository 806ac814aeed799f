#include "files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

namespace local {
namespace {

// The directory that holds a name, and the name.
struct Place {
  Fd dir;
  std::string name;
};

Place place_of(const Box& box, std::string_view path) {
  const std::string relative = below(box, path);
  if (relative.empty()) {
    throw sandglass::Error(SG_E_DENIED, "the workspace itself is not a file: " + shown(path));
  }
  const size_t slash = relative.rfind('/');
  const std::string parent = slash == std::string::npos ? "" : relative.substr(0, slash);
  Place place{try_open(open_workspace(box), parent, O_PATH | O_DIRECTORY, Links::refused),
              slash == std::string::npos ? relative : relative.substr(slash + 1)};
  if (!place.dir) throw errno_error(errno, "open the directory of", path);
  return place;
}

int64_t ns_of(const timespec& t) {
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

sg_entry entry_of(const struct stat& st, std::string_view name) {
  sg_entry entry{};
  entry.struct_size = sizeof entry;
  entry.type = S_ISREG(st.st_mode)   ? 'f'
               : S_ISDIR(st.st_mode) ? 'd'
               : S_ISLNK(st.st_mode) ? 'l'
                                     : 'o';
  entry.mode = st.st_mode;
  entry.size = static_cast<uint64_t>(st.st_size);
  entry.inode = st.st_ino;
  entry.mtime_ns = ns_of(st.st_mtim);
  entry.ctime_ns = ns_of(st.st_ctim);
  entry.name = sandglass::bytes(name);
  return entry;
}

void append_link_target(const Place& place, std::string_view path, const sandglass::Out& out) {
  std::array<char, PATH_MAX> target;
  const ssize_t n = ::readlinkat(place.dir.get(), place.name.c_str(), target.data(), target.size());
  if (n < 0) throw errno_error(errno, "read the link", path);
  out.append({target.data(), static_cast<size_t>(n)});
}

// Removed unless renamed into place.
class Temporary {
 public:
  explicit Temporary(const Fd& dir) : dir_(dir) {
    uint64_t random = 0;
    if (::getrandom(&random, sizeof random, 0) != sizeof random)
      random = static_cast<uint64_t>(::getpid());
    std::array<char, 64> name;
    std::snprintf(name.data(), name.size(), ".sandglass-%016llx.tmp",
                  static_cast<unsigned long long>(random));
    name_ = name.data();
  }
  ~Temporary() {
    if (!name_.empty()) ::unlinkat(dir_.get(), name_.c_str(), 0);
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  const char* name() const { return name_.c_str(); }
  void rename_to(const std::string& name, std::string_view path) {
    if (::renameat(dir_.get(), name_.c_str(), dir_.get(), name.c_str()) < 0) {
      throw errno_error(errno, "write", path);
    }
    name_.clear();
  }

 private:
  const Fd& dir_;
  std::string name_;
};

void write_all(int fd, std::string_view bytes, std::string_view path) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw errno_error(errno, "write", path);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
}

void write_regular(const Place& place, std::string_view path, mode_t mode,
                   const sandglass::Io& data) {
  Temporary temporary(place.dir);
  const Fd fd(
      ::openat(place.dir.get(), temporary.name(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd) throw errno_error(errno, "write", path);
  std::string buffer(65536, '\0');
  while (const size_t n = data.read(buffer.data(), buffer.size())) {
    write_all(fd.get(), std::string_view(buffer).substr(0, n), path);
  }
  if (::fchmod(fd.get(), mode) < 0) throw errno_error(errno, "set the mode of", path);
  temporary.rename_to(place.name, path);
}

void write_link(const Place& place, std::string_view path, const sandglass::Io& data) {
  std::string target, part(PATH_MAX, '\0');
  while (const size_t n = data.read(part.data(), part.size())) {
    target.append(part, 0, n);
    if (target.size() >= PATH_MAX) throw errno_error(ENAMETOOLONG, "write the link", path);
  }
  Temporary temporary(place.dir);
  if (target.find('\0') != std::string::npos) throw errno_error(EINVAL, "write the link", path);
  if (::symlinkat(target.c_str(), place.dir.get(), temporary.name()) < 0) {
    throw errno_error(errno, "write the link", path);
  }
  temporary.rename_to(place.name, path);
}

void make_directory(const Place& place, std::string_view path, mode_t mode) {
  if (::mkdirat(place.dir.get(), place.name.c_str(), 0700) < 0 && errno != EEXIST) {
    throw errno_error(errno, "make the directory", path);
  }
  const Fd fd(::openat(place.dir.get(), place.name.c_str(),
                       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd || ::fchmod(fd.get(), mode) < 0) throw errno_error(errno, "make the directory", path);
}

}  // namespace

void stat_file(const Box& box, std::string_view path, sg_entry& entry, const sandglass::Out& link) {
  struct stat st;
  const size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  if (below(box, path).empty()) {
    if (::fstat(open_workspace(box).get(), &st) < 0) throw errno_error(errno, "look at", path);
  } else {
    const Place place = place_of(box, path);
    if (::fstatat(place.dir.get(), place.name.c_str(), &st, AT_SYMLINK_NOFOLLOW) < 0) {
      throw errno_error(errno, "look at", path);
    }
    if (S_ISLNK(st.st_mode) && link.abi()) append_link_target(place, path, link);
  }
  sg_entry full = entry_of(st, name);
  full.struct_size = entry.struct_size;
  std::memcpy(&entry, &full, std::min<size_t>(entry.struct_size, sizeof full));
}

void list_directory(const Box& box, std::string_view path, const sandglass::EntrySink& sink) {
  Fd fd = try_open(open_workspace(box), below(box, path), O_RDONLY | O_DIRECTORY, Links::refused);
  if (!fd) throw errno_error(errno, "list", path);
  const int copy = ::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0);
  std::unique_ptr<DIR, int (*)(DIR*)> dir(copy < 0 ? nullptr : ::fdopendir(copy), ::closedir);
  if (!dir) throw errno_error(errno, "list", path);
  while (true) {
    errno = 0;
    const dirent* found = ::readdir(dir.get());
    if (!found && errno) throw errno_error(errno, "list", path);
    if (!found) return;
    const std::string_view name = found->d_name;
    struct stat st;
    if (name == "." || name == "..") continue;
    // Gone since: not there is the truth.
    if (::fstatat(fd.get(), found->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0) continue;
    sink.add(entry_of(st, name));
  }
}

void read_file(const Box& box, std::string_view path, uint64_t offset, uint64_t max_bytes,
               const sandglass::Out& out) {
  const Place place = place_of(box, path);
  struct stat st;
  if (::fstatat(place.dir.get(), place.name.c_str(), &st, AT_SYMLINK_NOFOLLOW) < 0) {
    throw errno_error(errno, "read", path);
  }
  if (!S_ISREG(st.st_mode)) throw sandglass::Error(SG_E_INVALID, shown(path) + " is not a file");
  // O_NONBLOCK: a FIFO put there since must not hang the call; the second look then refuses it.
  const Fd fd(::openat(place.dir.get(), place.name.c_str(),
                       O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!fd || ::fstat(fd.get(), &st) < 0) throw errno_error(errno, "read", path);
  if (!S_ISREG(st.st_mode)) throw sandglass::Error(SG_E_INVALID, shown(path) + " is not a file");
  std::string buffer(65536, '\0');
  while (max_bytes > 0 && offset <= INT64_MAX) {
    const size_t room = static_cast<size_t>(std::min<uint64_t>(max_bytes, buffer.size()));
    const ssize_t n = ::pread(fd.get(), buffer.data(), room, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw errno_error(errno, "read", path);
    if (n == 0) return;
    out.append(std::string_view(buffer).substr(0, static_cast<size_t>(n)));
    offset += static_cast<uint64_t>(n);
    max_bytes -= static_cast<uint64_t>(n);
  }
}

void write_file(const Box& box, std::string_view path, const sg_entry& as,
                const sandglass::Io& data) {
  const Place place = place_of(box, path);
  const mode_t mode = as.mode & 07777;
  switch (as.type) {
    case 0:
    case 'f':
      return write_regular(place, path, mode, data);
    case 'l':
      return write_link(place, path, data);
    case 'd':
      return make_directory(place, path, mode);
    default:
      throw sandglass::Error(SG_E_UNSUPPORTED, "only files, links and directories are written");
  }
}

void remove_file(const Box& box, std::string_view path) {
  const Place place = place_of(box, path);
  if (::unlinkat(place.dir.get(), place.name.c_str(), 0) == 0) return;
  if (errno != EISDIR || ::unlinkat(place.dir.get(), place.name.c_str(), AT_REMOVEDIR) < 0) {
    throw errno_error(errno, "remove", path);
  }
}

}  // namespace local
