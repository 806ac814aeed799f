#include "tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <memory>

namespace {

constexpr int64_t kTickNs = 20'000'000;  // time stamps advance in ticks of the kernel

int64_t ns(const timespec& t) {
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

}  // namespace

Tree::Tree(sandglass::WatchTarget target, sandglass::WatchSink sink)
    : root_(target.local_root()), sink_(sink) {
  for (size_t i = 0; i < target.ignore_count(); i++) ignored_.emplace(target.ignore(i));
}

void Tree::look(bool first) {
  const std::lock_guard lock(mutex_);
  if (over_) return;
  std::map<std::string, Look> now;
  std::set<std::string> fresh;
  timespec clock{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &clock);  // the clock of time stamps
  walk(::open(root_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), "", now);
  for (const auto& [path, look] : now) {
    const auto was = seen_.find(path);
    // Written to in the tick of this look, it may be again and look the same: asked about once
    // more.
    if (ns(clock) - std::get<4>(look) < kTickNs) fresh.insert(path);
    if (was == seen_.end())
      tell(path, SG_HINTF_BORN);
    else if (was->second != look || fresh_.count(path))
      tell(path, 0);
  }
  for (const auto& [path, look] : seen_)
    if (!now.count(path)) tell(path, SG_HINTF_GONE);
  if (!first) send();
  hints_.clear();
  seen_ = std::move(now);
  fresh_ = std::move(fresh);
}

void Tree::end() {
  const std::lock_guard lock(mutex_);
  over_ = true;
}

// Never through a link: each directory is opened from the one that holds it.
void Tree::walk(int fd, const std::string& below, std::map<std::string, Look>& now) const {
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(fd < 0 ? nullptr : ::fdopendir(fd), ::closedir);
  if (!dir) return;  // gone, or not ours to read
  while (const dirent* entry = ::readdir(dir.get())) {
    const std::string name = entry->d_name;  // bytes: anything but NUL and '/'
    struct stat st {};
    if (name == "." || name == "..") continue;
    if (::fstatat(fd, name.c_str(), &st, AT_SYMLINK_NOFOLLOW) < 0) continue;
    if (!S_ISDIR(st.st_mode)) {
      now[below + name] = {st.st_ino, st.st_mode, st.st_size, ns(st.st_mtim), ns(st.st_ctim)};
    } else if (!ignored_.count(name)) {
      now[below + name] = {st.st_ino, st.st_mode, 0, 0, 0};
      walk(::openat(fd, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
           below + name + "/", now);
    }
  }
}

void Tree::tell(const std::string& path, uint32_t flags) {
  sg_hint hint{};
  hint.struct_size = sizeof hint;
  hint.kind = SG_HINT_ENTRY;
  hint.flags = flags;
  hint.pidfd = -1;
  hints_.emplace_back(path, hint);
}

// All of one look at once: a rename is then one batch for the host.
void Tree::send() {
  std::vector<const sg_hint*> all;
  for (auto& [path, hint] : hints_) {
    hint.path = sandglass::bytes(path);
    all.push_back(&hint);
  }
  if (!all.empty()) sink_.hints(all.data(), all.size());
}
