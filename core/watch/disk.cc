#include "watch/disk.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>

#include "base/text.h"

namespace sandglass::watch {

static Found found_of(int code) {
  switch (code) {
    case ENOENT:
    case ENOTDIR:
    case ELOOP:  // a symbolic link took the directory's place
      return Found::absent;
    case EACCES:
    case EPERM:
    case ENAMETOOLONG:
    case EINVAL:
      return Found::unknown;
    default:
      return Found::busy;
  }
}

static int64_t ns_of(const timespec& t) {
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

static Type type_of(mode_t mode) {
  if (S_ISREG(mode)) return Type::file;
  if (S_ISDIR(mode)) return Type::dir;
  return S_ISLNK(mode) ? Type::link : Type::other;
}

Status Disk::open(const std::string& path) {
  struct stat name {
  }, st{};
  const bool is_dir = ::lstat(path.c_str(), &name) == 0 && S_ISDIR(name.st_mode);
  if (!is_dir) {
    close();
    return fail(Fault::not_found, shown(path) + " is not a directory any more");
  }
  auto root = Root::open(path);
  if (!root) {
    close();
    return tl::unexpected(root.error());
  }
  if (!root->stat_below("", st) || st.st_dev != name.st_dev || st.st_ino != name.st_ino) {
    close();  // replaced between the two looks; the hint of that is on the way
    return fail(Fault::not_found, shown(path) + " was replaced while it was opened");
  }
  forget();
  root_.emplace(std::move(*root));
  device_ = st.st_dev;
  inode_ = st.st_ino;
  return {};
}

void Disk::close() {
  forget();
  root_.reset();
  device_ = inode_ = 0;
}

void Disk::forget() {
  dir_fd_.reset();
  dir_.clear();
}

// Makes dir_fd_ the directory. For the root itself without reading it, the root's own descriptor
// serves and nothing is opened.
Found Disk::enter(std::string_view dir, bool readable) {
  if (!root_) return Found::absent;
  if (dir_fd_ && dir_ == dir && (readable_ || !readable)) return Found::present;
  dir_fd_.reset();
  const int how = readable ? O_RDONLY | O_DIRECTORY | O_NONBLOCK : O_PATH | O_DIRECTORY;
  int fd = root_->try_open(dir, how);
  if (fd < 0) return found_of(errno);
  dir_fd_.reset(fd);
  dir_.assign(dir);
  readable_ = readable;
  return Found::present;
}

Found Disk::look(std::string_view dir, std::string_view name, Seen& out) {
  char text[NAME_MAX + 1];
  if (!root_ || name.empty() || name.size() >= sizeof text) return Found::absent;
  std::memcpy(text, name.data(), name.size());
  text[name.size()] = '\0';
  int at = root_->fd();
  if (!dir.empty()) {
    if (Found found = enter(dir, false); found != Found::present) return found;
    at = dir_fd_.get();
  }
  struct stat st {};
  if (::fstatat(at, text, &st, AT_SYMLINK_NOFOLLOW) < 0) return found_of(errno);
  out.type = type_of(st.st_mode);
  out.mode = static_cast<uint16_t>(st.st_mode & 07777);
  out.links = static_cast<uint32_t>(st.st_nlink);
  out.size = static_cast<uint64_t>(st.st_size);
  out.inode = st.st_ino;
  out.mtime_ns = ns_of(st.st_mtim);
  out.ctime_ns = ns_of(st.st_ctim);
  return Found::present;
}

Found Disk::list(std::string_view dir, std::vector<Listed>& out) {
  out.clear();
  forget();  // a descriptor that was read is at its end
  if (Found found = enter(dir, true); found != Found::present) return found;
  buffer_.resize(64 * 1024);
  names_.clear();
  struct Part {
    size_t at, size;
    bool is_dir;
  };
  std::vector<Part> parts;
  Found result = Found::present;
  for (;;) {
    long n = ::syscall(SYS_getdents64, dir_fd_.get(), buffer_.data(), buffer_.size());
    if (n < 0) result = found_of(errno);
    if (n <= 0) break;
    for (long at = 0; at < n;) {
      const auto* entry = reinterpret_cast<const dirent64*>(buffer_.data() + at);
      at += entry->d_reclen;
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      parts.push_back({names_.size(), name.size(), entry->d_type == DT_DIR});
      names_ += name;
    }
  }
  out.reserve(parts.size());
  for (const Part& part : parts)
    out.push_back({std::string_view(names_).substr(part.at, part.size), part.is_dir});
  return result;
}

}  // namespace sandglass::watch
