#include "tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

Tree::Tree(sandglass::Host host, sandglass::WatchTarget target, sandglass::WatchSink sink)
    : host_(host), root_(target.local_root()), sink_(sink) {
  for (size_t i = 0; i < target.ignore_count(); i++) ignored_.emplace(target.ignore(i));
}

void Tree::look(bool first) {
  const std::lock_guard lock(mutex_);
  if (over_) return;
  int64_t began = tick_now_ns();
  Looks now = walk();
  const auto settled = [&](const auto& one) { return is_settled(one.second, began); };
  if (!std::all_of(now.begin(), now.end(), settled)) {
    // Let the tick pass: whatever is written later looks different.
    std::this_thread::sleep_for(std::chrono::nanoseconds(2 * tick_ns()));
    began = tick_now_ns();
    now = walk();
  }
  for (const auto& [path, look] : now) {
    const auto was = seen_.find(path);
    if (was == seen_.end())
      tell(path, look, SG_HINTF_BORN);
    else if (!(was->second == look))
      tell(path, look, look.same_data(was->second) ? SG_HINTF_META : 0);
  }
  compare_unsettled(now, began);
  for (const auto& [path, look] : seen_)
    if (!now.count(path)) tell(path, look, SG_HINTF_GONE);
  if (!first) send();
  hints_.clear();
  if (first || now.count("") != seen_.count(""))
    sink_.state(now.count("") ? R"({"mode": "polling"})" : R"({"mode": "gone"})");
  seen_ = std::move(now);
}

// Written to in the tick of the last look, with the same time stamps: then the bytes differ. Each
// is hashed once, before the host looks, so that what is written after that shows next time.
void Tree::compare_unsettled(const Looks& now, int64_t began) {
  std::map<std::string, uint64_t> open;
  for (const auto& [path, look] : now) {
    const auto was = unsettled_.find(path);
    const bool settled = is_settled(look, began);
    if (settled && was == unsettled_.end()) continue;
    const uint64_t hash = hash_of(root_ + "/" + path);
    if (was != unsettled_.end() && look == seen_.at(path) && hash != was->second)
      tell(path, look, SG_HINTF_DATA);
    if (!settled) open[path] = hash;
  }
  unsettled_ = std::move(open);
}

void Tree::end() {
  const std::lock_guard lock(mutex_);
  over_ = true;
}

Tree::Looks Tree::walk() const {
  Looks looks;
  const int root = ::open(root_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct stat st {};
  if (root >= 0 && ::fstat(root, &st) == 0) looks[""] = Look::of(st);
  walk(root, "", looks);
  return looks;
}

// Never through a link: each directory is opened from the one that holds it.
void Tree::walk(int fd, const std::string& below, Looks& looks) const {
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(fd < 0 ? nullptr : ::fdopendir(fd), ::closedir);
  if (!dir) {  // gone, or not ours to read
    if (fd >= 0) ::close(fd);
    return;
  }
  while (const dirent* entry = ::readdir(dir.get())) {
    const std::string name = entry->d_name;  // bytes: anything but NUL and '/'
    struct stat st {};
    if (name == "." || name == "..") continue;
    if (::fstatat(fd, name.c_str(), &st, AT_SYMLINK_NOFOLLOW) < 0) continue;
    if (S_ISDIR(st.st_mode) && ignored_.count(name)) continue;
    looks[below + name] = Look::of(st);
    if (S_ISDIR(st.st_mode))
      walk(::openat(fd, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
           below + name + "/", looks);
  }
}

void Tree::tell(const std::string& path, const Look& look, uint32_t flags) {
  sg_hint hint{};
  hint.struct_size = sizeof hint;
  // Names came or went in a directory, and the host may have met one that no look of ours did.
  hint.kind = look.is_directory() ? SG_HINT_TREE : SG_HINT_ENTRY;
  hint.flags = flags;
  hint.pidfd = -1;
  hint.seen_ns = host_.now_ns();
  hints_.emplace_back(path, hint);
}

// All of one look at once: a rename is then one batch for the host. Files first: what is known of
// each is better than what the host finds where a whole directory has to be compared.
void Tree::send() {
  std::vector<const sg_hint*> all;
  for (const uint32_t kind : {SG_HINT_ENTRY, SG_HINT_TREE})
    for (auto& [path, hint] : hints_) {
      hint.path = sandglass::bytes(path);
      if (hint.kind == kind) all.push_back(&hint);
    }
  if (!all.empty()) sink_.hints(all.data(), all.size());
}
