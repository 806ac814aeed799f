// Random changes of a tree, and the hints that a perfect watcher would give for each.
#pragma once

#include <fcntl.h>
#include <linux/fs.h>
#include <sandglass/plugin.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace sandglass::watch::testing {

struct Told {
  uint32_t kind, flags;
  std::string path;
};

// How many operations a random test makes: SANDGLASS_OPS, else `usual`.
inline int number_of_ops(int usual) {
  const char* given = std::getenv("SANDGLASS_OPS");
  return given ? std::atoi(given) : usual;
}

// SANDGLASS_SEED, else a new one each time; printed by the tests.
inline uint64_t seed_of_the_day() {
  if (const char* given = std::getenv("SANDGLASS_SEED")) return std::strtoull(given, nullptr, 10);
  return std::random_device()();
}

class RandomOps {
 public:
  RandomOps(std::string root, uint64_t seed) : root_(std::move(root)), random_(seed) {}
  ~RandomOps() {
    for (auto& [fd, path] : open_) ::close(fd);
  }

  // One operation; hints are added to `told`. Failing ones (a name that is not there) are part of
  // it.
  void step(std::vector<Told>& told) {
    told_ = &told;
    const std::string a = path(), b = path();
    switch (random_() % 21) {
      case 0:
      case 1:
      case 2:
        write(a, O_TRUNC);
        break;
      case 3:
        write(a, O_APPEND);
        break;
      case 4:
        write(a, 0);
        break;  // over what is there, often of the same size
      case 5:
        open_and_keep(a);
        break;
      case 6:
        write_to_kept();
        break;
      case 7:
      case 8:
        make_dir(a);
        break;
      case 9:
      case 10:
      case 11:
        move(a, b, 0);
        break;
      case 12:
        move(a, b, RENAME_EXCHANGE);
        break;
      case 13:
        link(a, b);
        break;
      case 14:
        random_() % 4 ? symlink(a) : make_fifo(a);
        break;
      case 15:
        chmod(a);
        break;
      case 16:
      case 17:
        remove_file(a);
        break;
      case 18:
        remove_dir(a);
        break;
      case 19:
        truncate(a);
        break;
      default:
        swap_type(a);
        break;
    }
  }

  void close_all(std::vector<Told>& told) {
    told_ = &told;
    while (!open_.empty()) close_kept();
  }

  uint64_t number() { return random_(); }

  // Whether a hard link was ever made: where one name was written through and moved or removed
  // before anyone looked, no event names the file that was changed, and only an audit tells.
  bool linked() const { return linked_; }

 private:
  std::string full(const std::string& path) const { return root_ + "/" + path; }

  std::string path() {
    static const char* const names[] = {"a", "b", "c", "d \xff\n\"\t"};
    std::string out = names[random_() % 4];
    for (uint64_t depth = random_() % 3; depth > 0; --depth)
      out += std::string("/") + names[random_() % 4];
    return out;
  }

  void tell(uint32_t flags, const std::string& path, uint32_t kind = SG_HINT_ENTRY) {
    told_->push_back({kind, flags, path});
  }

  bool is_dir(const std::string& path) const {
    struct stat st {};
    return ::lstat(full(path).c_str(), &st) == 0 && S_ISDIR(st.st_mode);
  }

  // Often of the same size as the last; sometimes lines, with and without their ends, or binary.
  std::string text() {
    if (random_() % 3) return "text " + std::to_string(random_() % 10);
    std::string out;
    for (uint64_t lines = random_() % 30; lines > 0; --lines)
      out += "line " + std::to_string(random_() % 6) + (random_() % 8 ? "\n" : "\r\n");
    if (random_() % 4 == 0) out += "no end";
    if (random_() % 8 == 0) out += '\0';
    return out;
  }

  int open(const std::string& path, int flags) {
    const bool there = ::access(full(path).c_str(), F_OK) == 0;
    const int fd = ::open(full(path).c_str(),
                          O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags, 0644);
    if (fd >= 0 && !there) tell(SG_HINTF_BORN, path);
    if (fd >= 0 && there && (flags & O_TRUNC)) tell(SG_HINTF_DATA, path);
    return fd;
  }

  void write(const std::string& path, int flags) {
    const int fd = open(path, flags);
    if (fd < 0) return;
    const std::string bytes = text();
    if (::write(fd, bytes.data(), bytes.size()) > 0) tell(SG_HINTF_DATA, path);
    ::close(fd);
    tell(SG_HINTF_CLOSED, path);
  }

  // The kernel's word for it is a write, of a file that nobody opened for that a change of data
  // too.
  void truncate(const std::string& path) {
    struct stat st {};
    if (::lstat(full(path).c_str(), &st) < 0 || !S_ISREG(st.st_mode)) return;
    const auto size = static_cast<off_t>(random_() % 12);
    if (::truncate(full(path).c_str(), size) == 0) tell(SG_HINTF_DATA, path);
  }

  // A descriptor that stays open; it is let go before its file is renamed, for a perfect watcher
  // would have to follow the name.
  void open_and_keep(const std::string& path) {
    if (open_.size() > 2) close_kept();
    const int fd = open(path, 0);
    if (fd >= 0) open_.emplace_back(fd, path);
  }

  void write_to_kept() {
    if (open_.empty()) return;
    const auto& [fd, path] = open_[random_() % open_.size()];
    const std::string bytes = text();
    if (::write(fd, bytes.data(), bytes.size()) > 0) tell(SG_HINTF_DATA, path);
  }

  void close_kept() {
    ::close(open_.back().first);
    tell(SG_HINTF_CLOSED, open_.back().second);
    open_.pop_back();
  }

  void make_dir(const std::string& path) {
    if (::mkdir(full(path).c_str(), 0755) == 0) tell(SG_HINTF_BORN, path, SG_HINT_TREE);
  }

  void move(const std::string& from, const std::string& to, unsigned flags) {
    close_all(*told_);
    const bool from_dir = is_dir(from), to_dir = is_dir(to);
    if (from == to || ::syscall(SYS_renameat2, AT_FDCWD, full(from).c_str(), AT_FDCWD,
                                full(to).c_str(), flags) < 0)
      return;
    moved(from, to, from_dir);
    if (flags & RENAME_EXCHANGE) moved(to, from, to_dir);
  }

  void moved(const std::string& from, const std::string& to, bool dir) {
    tell(SG_HINTF_GONE, from);
    if (dir)
      tell(SG_HINTF_BORN, to, SG_HINT_TREE);
    else
      tell(SG_HINTF_BORN | SG_HINTF_CLOSED, to);
  }

  void link(const std::string& from, const std::string& to) {
    if (::linkat(AT_FDCWD, full(from).c_str(), AT_FDCWD, full(to).c_str(), 0) < 0) return;
    linked_ = true;
    tell(SG_HINTF_BORN, to);
  }

  void symlink(const std::string& path) {
    const std::string target = "to " + std::to_string(random_() % 10);
    if (::symlink(target.c_str(), full(path).c_str()) == 0) tell(SG_HINTF_BORN, path);
  }

  void make_fifo(const std::string& path) {
    if (::mkfifo(full(path).c_str(), 0644) == 0) tell(SG_HINTF_BORN, path);
  }

  void chmod(const std::string& path) {
    struct stat st {};
    if (::lstat(full(path).c_str(), &st) < 0 || !S_ISREG(st.st_mode)) return;
    if (::chmod(full(path).c_str(), random_() % 2 ? 0755 : 0644) == 0) tell(SG_HINTF_META, path);
  }

  // No event tells of a write through a name that is gone while the file has another one: such a
  // writer ends first, the audit's test has the other case.
  void remove_file(const std::string& path) {
    struct stat st {};
    if (::lstat(full(path).c_str(), &st) == 0 && st.st_nlink > 1) close_all(*told_);
    if (::unlink(full(path).c_str()) == 0) tell(SG_HINTF_GONE, path);
  }

  void remove_dir(const std::string& path) {
    if (!is_dir(path)) return;
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(full(path)))
      names.push_back(entry.path().filename());
    for (const std::string& name : names) {
      if (is_dir(path + "/" + name))
        remove_dir(path + "/" + name);
      else
        remove_file(path + "/" + name);
    }
    if (::rmdir(full(path).c_str()) == 0) tell(SG_HINTF_GONE, path);
  }

  void swap_type(const std::string& path) {
    if (is_dir(path)) {
      remove_dir(path);
      write(path, O_TRUNC);
    } else {
      remove_file(path);
      make_dir(path);
    }
  }

  const std::string root_;
  std::mt19937_64 random_;
  std::vector<std::pair<int, std::string>> open_;
  std::vector<Told>* told_ = nullptr;
  bool linked_ = false;
};

}  // namespace sandglass::watch::testing
