#include "watches.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sandglass/plugin.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "../common/foreign.h"

namespace inotify_watcher {

constexpr int kOpenDepth = 32;  // directories held open at once while a new tree is read
constexpr uint32_t kMask = IN_CREATE | IN_DELETE | IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE |
                           IN_MOVED_FROM | IN_MOVED_TO | IN_ONLYDIR | IN_EXCL_UNLINK;

static int open_dir(int at, const char* path) {
  open_how how{};
  how.flags = O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS;
  for (;;) {
    const int fd = static_cast<int>(::syscall(SYS_openat2, at, path, &how, sizeof how));
    if (fd >= 0 || (errno != EAGAIN && errno != EINTR)) return fd;
  }
}

static bool is_foreign(int fd) {
  struct statfs fs {};
  return ::fstatfs(fd, &fs) == 0 && watcher_common::foreign(fs);
}

Watches::Watches(int inotify, const std::vector<std::string>& ignore, Tell tell)
    : inotify_(inotify), ignore_(ignore), tell_(std::move(tell)) {}

bool Watches::open_root(const std::string& path) {
  root_fd_ = Fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!root_fd_) return false;
  struct stat st {};
  if (::fstat(root_fd_.get(), &st) < 0) return false;
  root_ = std::make_unique<Node>();
  root_->device = st.st_dev;
  root_->inode = st.st_ino;
  root_->stale = true;
  root_->wd = add_watch(root_fd_.get());
  if (root_->wd < 0) {
    if (errno != ENOSPC) return false;
    set_blind(root_.get(), true);
    return true;
  }
  by_wd_[root_->wd] = root_.get();
  scan(root_.get());
  return true;
}

void Watches::close_root() {
  for (Limbo& limbo : limbo_) drop(limbo.node.get());
  limbo_.clear();
  if (root_) drop(root_.get());
  root_.reset();
  root_fd_ = Fd();
  memo_ = nullptr;
}

bool Watches::is_root(uint64_t device, uint64_t inode) const {
  return root_ && root_->device == device && root_->inode == inode;
}

// Through the descriptor, because a path could lead elsewhere by the time it is watched.
int Watches::add_watch(int fd) const {
  char link[40];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  return ::inotify_add_watch(inotify_, link, kMask);
}

Node* Watches::find(int wd) const {
  auto it = by_wd_.find(wd);
  return it == by_wd_.end() ? nullptr : it->second;
}

// Where a child of this name is, or belongs.
static auto place_in(Node* dir, std::string_view name) {
  return std::lower_bound(
      dir->children.begin(), dir->children.end(), name,
      [](const std::unique_ptr<Node>& node, std::string_view than) { return node->name < than; });
}

Node* Watches::child(Node* dir, std::string_view name) const {
  const auto it = place_in(dir, name);
  return it != dir->children.end() && (*it)->name == name ? it->get() : nullptr;
}

bool Watches::ignored(std::string_view name) const {
  return std::find(ignore_.begin(), ignore_.end(), name) != ignore_.end();
}

bool Watches::path_of(const Node* node, std::string_view& path) {
  if (memo_ != node) {
    memo_ = nullptr;
    path_.clear();
    const Node* at = node;
    for (; at->parent; at = at->parent) {
      if (!path_.empty()) path_.insert(0, 1, '/');
      path_.insert(0, at->name);
    }
    if (at != root_.get()) return false;
    memo_ = node;
  }
  path = path_;
  return true;
}

// The node's directory, or nothing where its path leads to another one.
Fd Watches::open_below(const Node* node) {
  std::string_view path;
  if (!path_of(node, path)) return Fd();
  Fd fd = enter(root_fd_.get(), path.empty() ? "." : std::string(path));
  struct stat st {};
  if (!fd || ::fstat(fd.get(), &st) < 0) return Fd();
  return st.st_dev == node->device && st.st_ino == node->inode ? std::move(fd) : Fd();
}

// A directory that is there. What is missing for want of descriptors is made up for by renew().
Fd Watches::enter(int at, const std::string& name) {
  Fd fd(open_dir(at, name.c_str()));
  if (!fd && (errno == EMFILE || errno == ENFILE || errno == ENOMEM)) short_ = true;
  return fd;
}

Watches::Came Watches::adopt(Node* dir, std::string_view name) {
  const Fd parent = open_below(dir);
  if (!parent) {
    dir->stale = true;
    return Came::nothing;
  }
  const Fd fd = enter(parent.get(), std::string(name));
  if (!fd) {
    if (Node* known = child(dir, name)) send_to_limbo(known);
    return Came::nothing;
  }
  const Came came = place(dir, name, fd.get());
  if (came != Came::newly) return came;
  Node* node = child(dir, name);
  if (node->stale) read(node, fd.get(), kOpenDepth);
  scan(node);
  return came;
}

// Decides by the watch descriptor what the directory found at this place is.
Watches::Came Watches::place(Node* dir, std::string_view name, int fd) {
  struct stat st {};
  if (::fstat(fd, &st) < 0) return Came::nothing;
  const bool mount = st.st_dev != dir->device && is_foreign(fd);
  const int wd = mount ? -1 : add_watch(fd);
  const int error = mount ? ENOSPC : errno;
  Node* known = child(dir, name);
  if (known && known->wd == wd && wd >= 0) return Came::same;
  const bool same_inode = known && known->inode == st.st_ino && known->device == st.st_dev;
  if (same_inode && known->blind) return wd >= 0 ? see(known, wd) : Came::blind;
  if (wd < 0 && error != ENOSPC) {
    short_ |= error == ENOMEM;
    return Came::nothing;
  }
  if (known) send_to_limbo(known);
  std::unique_ptr<Node> node;
  if (Node* elsewhere = wd >= 0 ? find(wd) : nullptr) {
    for (const Node* above = dir; above; above = above->parent)
      if (above == elsewhere) {  // our picture is behind; the events that mend it are on the way
        elsewhere->stale = true;
        return Came::nothing;
      }
    node = detach(elsewhere);
  } else {
    node = std::make_unique<Node>();
    node->device = st.st_dev;
    node->inode = st.st_ino;
    node->wd = wd;
    node->stale = true;
    node->foreign = mount;
  }
  Node* placed = node.get();
  attach(dir, name, std::move(node));
  if (wd < 0) return set_blind(placed, true), Came::blind;
  by_wd_[wd] = placed;
  return Came::newly;
}

Watches::Came Watches::see(Node* node, int wd) {
  node->wd = wd;
  node->stale = true;
  by_wd_[wd] = node;
  set_blind(node, false);
  return Came::newly;
}

// Reads every stale directory below `top` and places what it holds.
void Watches::scan(Node* top) {
  std::vector<Node*> todo{top};
  while (!todo.empty()) {
    Node* node = todo.back();
    todo.pop_back();
    if (node->blind) {
      tell_(SG_HINT_BLIND, node);  // perhaps at another path than before
      continue;
    }
    if (node->stale)
      if (const Fd fd = open_below(node)) read(node, fd.get(), kOpenDepth);
    for (auto& one : node->children) todo.push_back(one.get());
  }
}

// New directories below are read at once while they are open, down to `depth`; scan() does the
// rest.
void Watches::read(Node* node, int fd, int depth) {
  node->stale = false;
  std::vector<std::string> names = names_in(fd);
  size_t placed = 0;
  for (const std::string& name : names) {
    const Fd below = enter(fd, name);
    const Came came = below ? place(node, name, below.get()) : Came::nothing;
    if (came != Came::nothing) ++placed;
    if (came != Came::newly || depth == 0) continue;
    Node* one = child(node, name);
    if (one && one->stale) read(one, below.get(), depth - 1);
  }
  if (node->children.size() == placed) return;
  std::sort(names.begin(), names.end());
  std::vector<Node*> missing;
  for (auto& one : node->children)
    if (!std::binary_search(names.begin(), names.end(), one->name)) missing.push_back(one.get());
  for (Node* one : missing) send_to_limbo(one);
}

// Names that are directories, or may be one.
std::vector<std::string> Watches::names_in(int fd) const {
  std::vector<std::string> names;
  alignas(dirent64) char buffer[32 * 1024];
  for (;;) {
    const long n = ::syscall(SYS_getdents64, fd, buffer, sizeof buffer);
    if (n <= 0) return names;
    for (long at = 0; at < n;) {
      const auto* entry = reinterpret_cast<const dirent64*>(buffer + at);
      at += entry->d_reclen;
      if (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN) continue;
      const std::string_view name = entry->d_name;
      if (name != "." && name != ".." && !ignored(name)) names.emplace_back(name);
    }
  }
}

void Watches::attach(Node* dir, std::string_view name, std::unique_ptr<Node> node) {
  memo_ = nullptr;
  node->parent = dir;
  node->name = name;
  const auto at = place_in(dir, name);
  dir->children.insert(at, std::move(node));
}

std::unique_ptr<Node> Watches::detach(Node* node) {
  memo_ = nullptr;
  std::unique_ptr<Node> taken;
  if (node->parent) {
    const auto it = place_in(node->parent, node->name);
    taken = std::move(*it);
    node->parent->children.erase(it);
    node->parent = nullptr;
    return taken;
  }
  auto it = std::find_if(limbo_.begin(), limbo_.end(),
                         [&](const Limbo& one) { return one.node.get() == node; });
  taken = std::move(it->node);
  limbo_.erase(it);
  return taken;
}

void Watches::send_to_limbo(Node* node) {
  limbo_.push_back({detach(node), now_ns_});
}

uint64_t Watches::clear_limbo(uint64_t now_ns) {
  size_t done = 0;
  while (done < limbo_.size() && limbo_[done].since_ns + kLimboNs <= now_ns)
    drop(limbo_[done++].node.get());
  limbo_.erase(limbo_.begin(), limbo_.begin() + static_cast<ptrdiff_t>(done));
  return limbo_.empty() ? 0 : limbo_.front().since_ns + kLimboNs;
}

// Gives back the watches of the node and all below it.
void Watches::drop(Node* node) {
  if (node->wd >= 0) {
    auto it = by_wd_.find(node->wd);
    if (it != by_wd_.end() && it->second == node) by_wd_.erase(it);
    ::inotify_rm_watch(inotify_, node->wd);
    node->wd = -1;
  }
  if (node->blind) --(node->foreign ? foreign_ : blind_);
  node->blind = false;
  for (auto& one : node->children) drop(one.get());
}

void Watches::forget(int wd) {
  auto it = by_wd_.find(wd);
  if (it == by_wd_.end()) return;
  it->second->wd = -1;
  by_wd_.erase(it);
}

void Watches::renew() {
  if (!root_) return;
  for (auto& [wd, node] : by_wd_) node->stale = true;
  scan(root_.get());
}

void Watches::set_blind(Node* node, bool blind) {
  if (node->blind == blind) return;
  node->blind = blind;
  size_t& count = node->foreign ? foreign_ : blind_;
  blind ? ++count : --count;
  tell_(blind ? SG_HINT_BLIND : SG_HINT_SEEING, node);
}

void Watches::retry_blind() {
  std::vector<Node*> todo, found;
  if (root_) todo.push_back(root_.get());
  while (!todo.empty()) {
    Node* node = todo.back();
    todo.pop_back();
    if (node->blind && !node->foreign) found.push_back(node);
    for (auto& one : node->children) todo.push_back(one.get());
  }
  for (Node* node : found) {
    const Fd fd = open_below(node);
    if (!fd) continue;
    const int wd = add_watch(fd.get());
    if (wd < 0 && errno == ENOSPC) return;
    if (wd < 0 || find(wd)) continue;
    see(node, wd);
    scan(node);
  }
}

size_t Watches::count_dirs() const {
  constexpr int kDepth = 64;
  return root_fd_ ? 1 + count_dirs(root_fd_.get(), kDepth) : 0;
}

size_t Watches::count_dirs(int at, int depth) const {
  const Fd fd(open_dir(at, "."));
  if (!fd || depth == 0) return 0;
  size_t count = 0;
  for (const std::string& name : names_in(fd.get())) {
    const Fd below(open_dir(fd.get(), name.c_str()));
    if (below) count += 1 + count_dirs(below.get(), depth - 1);
  }
  return count;
}

}  // namespace inotify_watcher
