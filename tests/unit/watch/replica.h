// What a consumer knows: replays events over the tree as it was, reads each file when told of it,
// and compares with the disk. Every wrong, missing or doubled event shows as a difference.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/text.h"
#include "watch/change.h"

namespace sandglass::watch::testing {

struct Known {
  std::string content;  // a link's text
  char type = 'f';      // 'l', 'o'
  bool exec = false;
  bool operator==(const Known& other) const = default;
};
using Known_map = std::map<std::string, Known>;

inline std::string slurp(int dir, const char* name) {
  const int fd = ::openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return {};
  std::string out;
  char buffer[8192];
  for (ssize_t n; (n = ::read(fd, buffer, sizeof buffer)) > 0;)
    out.append(buffer, static_cast<size_t>(n));
  ::close(fd);
  return out;
}

inline bool read_known(int dir, const char* name, Known& out) {
  struct stat st {};
  if (::fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || S_ISDIR(st.st_mode)) return false;
  out = {};
  out.type = S_ISREG(st.st_mode) ? 'f' : S_ISLNK(st.st_mode) ? 'l' : 'o';
  out.exec = out.type == 'f' && (st.st_mode & 0100);
  if (out.type == 'f') out.content = slurp(dir, name);
  if (out.type == 'l') {
    char text[4096];
    const ssize_t n = ::readlinkat(dir, name, text, sizeof text);
    if (n > 0) out.content.assign(text, static_cast<size_t>(n));
  }
  return true;
}

inline void read_tree(int dir, const std::string& below, const std::vector<std::string>& ignore,
                      Known_map& out) {
  DIR* stream = ::fdopendir(::openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!stream) return;
  while (dirent* entry = ::readdir(stream)) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    Known known;
    if (read_known(dir, name.c_str(), known)) {
      out[below + name] = known;
      continue;
    }
    if (std::find(ignore.begin(), ignore.end(), name) != ignore.end()) continue;
    const int fd = ::openat(dir, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) continue;
    read_tree(fd, below + name + "/", ignore, out);
    ::close(fd);
  }
  ::closedir(stream);
}

class Replica {
 public:
  explicit Replica(std::string root, std::vector<std::string> ignore = {".git", "node_modules"})
      : root_(std::move(root)), ignore_(std::move(ignore)), known_(disk()) {}

  // Other names of directories to leave out; begins anew.
  void ignore(std::vector<std::string> names) {
    std::lock_guard lock(mutex_);
    ignore_ = std::move(names);
    known_ = disk();
  }

  Known_map disk() const {
    Known_map out;
    const int fd = ::open(root_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return out;
    read_tree(fd, "", ignore_, out);
    ::close(fd);
    return out;
  }

  // Any thread. Keeps what is wrong for difference().
  void apply(const std::vector<FileChange>& batch) {
    std::lock_guard lock(mutex_);
    const int fd = ::open(root_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool created = false;
    for (const FileChange& one : batch) {
      log_.push_back(one);
      const bool have = known_.count(one.path) != 0;
      if (one.kind == ChangeKind::rescan) continue;
      if (one.kind == ChangeKind::remove) {
        if (!have) wrong_ += "delete of unknown " + shown(one.path) + "; ";
        if (created) wrong_ += "delete after create in one batch: " + shown(one.path) + "; ";
        known_.erase(one.path);
        continue;
      }
      if (one.kind == ChangeKind::create) {
        created = true;
        if (have) wrong_ += "create of known " + shown(one.path) + "; ";
      } else if (!have) {
        wrong_ += "change of unknown " + shown(one.path) + "; ";
      }
      Known now;
      if (fd >= 0) read_known(fd, one.path.c_str(), now);
      known_[one.path] = now;
    }
    if (fd >= 0) ::close(fd);
  }

  // "" when the replay equals the disk and every event fitted.
  std::string difference() {
    std::lock_guard lock(mutex_);
    std::string out = wrong_;
    const Known_map now = disk();
    for (const auto& [path, known] : now) {
      auto it = known_.find(path);
      if (it == known_.end())
        out += "lost " + shown(path) + "; ";
      else if (!(it->second == known))
        out += "unseen change of " + shown(path) + " (" + shown(it->second.content.substr(0, 20)) +
               " is " + shown(known.content.substr(0, 20)) + "); ";
    }
    for (const auto& [path, known] : known_)
      if (!now.count(path)) out += "stale " + shown(path) + "; ";
    return out;
  }

  // "create a", "change a", "change* a" (meta only), "delete a", "rescan"; and begins anew.
  std::vector<std::string> take_log() {
    std::lock_guard lock(mutex_);
    std::vector<std::string> out;
    for (const FileChange& one : log_) {
      static const char* const words[] = {"create ", "change ", "delete ", "rescan"};
      std::string word = words[static_cast<int>(one.kind)];
      if (one.flags & 4) word = "change* ";
      out.push_back(word + one.path);
    }
    log_.clear();
    return out;
  }

 private:
  const std::string root_;
  std::vector<std::string> ignore_;
  std::mutex mutex_;
  Known_map known_;
  std::vector<FileChange> log_;
  std::string wrong_;
};

}  // namespace sandglass::watch::testing
