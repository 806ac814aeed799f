// What is on the disk: directories found and placed, the root itself gone or back.
#include <dirent.h>
#include <linux/openat2.h>
#include <sys/fanotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "group.h"
#include "probe.h"

namespace fanotify_watcher {

constexpr uint64_t kRootRetryNs = 250'000'000;
constexpr uint64_t kRenewNs = 200'000'000;
constexpr int kDeepest = 2'000;  // directories below this are polled
constexpr size_t kLongestPath = 4'000;

static Fd open_below(int root, std::string_view path) {
  open_how how{};
  how.flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  Fd at;
  for (;;) {  // in pieces that the kernel takes
    size_t size = path.size();
    if (size > kLongestPath) size = path.rfind('/', kLongestPath);
    const std::string piece(size ? path.substr(0, size) : ".");
    Fd next(static_cast<int>(
        ::syscall(SYS_openat2, at ? at.get() : root, piece.c_str(), &how, sizeof how)));
    if (!next || size == path.size()) return next;
    path.remove_prefix(size + 1);
    at = std::move(next);
  }
}

Fd Group::open_dir(const Node* node) {
  std::string_view path;
  if (!dirs_.path_of(node, path)) return Fd();
  return open_below(node->run->root_fd.get(), path);
}

// The key of a directory. A file system that was not met before is marked, too. False with errno
// set; 0 means that it cannot be watched.
bool Group::key_for(int dir, const char* name, Key& key) {
  Handle handle;
  if (!handle_at(dir, name, handle)) {
    if (errno == EOPNOTSUPP) errno = 0;
    return false;
  }
  auto mount = mounts_.find(handle.mount);
  if (mount == mounts_.end()) {
    const Fd fd(::openat(dir, *name ? name : ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    uint64_t fsid = 0;
    if (!fd || !fsid_of(fd.get(), fsid)) return false;
    if (std::find(marked_.begin(), marked_.end(), fsid) == marked_.end()) {
      if (mark(fan_.get(), fd.get()))
        marked_.push_back(fsid);
      else
        fsid = 0;
    }
    mount = mounts_.emplace(handle.mount, fsid).first;
  }
  if (mount->second == 0) {
    errno = 0;
    return false;
  }
  key = key_of(mount->second, handle.abi());
  return true;
}

static bool is_dir(int at, const char* name) {
  struct stat st {};
  return ::fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

// False where there is no such directory any more.
bool Group::look(int dir, const std::string& name, Found& found) {
  found.name = name;
  if (key_for(dir, name.c_str(), found.key)) return true;
  found.blind = errno != ENOENT && errno != ENOTDIR;
  return found.blind;
}

std::vector<std::string> Group::names_in(const Run& run, Fd dir, bool& whole) {
  std::vector<std::string> names;
  DIR* stream = ::fdopendir(::fcntl(dir.get(), F_DUPFD_CLOEXEC, 3));
  if (!stream) return whole = false, names;
  while (const dirent* entry = ::readdir(stream)) {
    const char* name = entry->d_name;
    if (!std::strcmp(name, ".") || !std::strcmp(name, "..") || run.ignored(name)) continue;
    if (entry->d_type == DT_DIR || (entry->d_type == DT_UNKNOWN && is_dir(dir.get(), name)))
      names.emplace_back(name);
  }
  ::closedir(stream);
  return names;
}

static int depth_of(const Node* node) {
  int depth = 0;
  while ((node = node->parent)) ++depth;
  return depth;
}

// Enters what a look found; those to be read themselves go to `below`.
void Group::enter(Node* dir, const std::vector<Found>& found, std::vector<Node*>* below) {
  const bool deep = depth_of(dir) >= kDeepest;
  for (const Found& one : found) {
    if (one.blind || deep) {
      std::string_view path;
      if (dirs_.path_of(dir, path)) dir->run->hints.add(SG_HINT_BLIND, 0, path, one.name);
      ++dir->run->blind;
      continue;
    }
    Node* there = dir->child(one.name);
    if (there && there->key == one.key) continue;
    if (there) dirs_.drop(there);
    Node* node = dirs_.add(dir, one.name, one.key);
    if (below) below->push_back(node);
  }
}

// Reads the directory and all below it that is not known. With a lock the disk is read without it;
// then nothing else may change this tree.
void Group::scan(Node* top, std::unique_lock<std::mutex>* lock) {
  Run& run = *top->run;
  std::vector<Node*> todo{top};
  while (!todo.empty()) {
    Node* dir = todo.back();
    todo.pop_back();
    const Fd fd = open_dir(dir);
    if (!fd) {
      if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP)
        run.renew_ns = run.now_ns() + kRenewNs;
      continue;
    }
    bool whole = true;
    if (lock) lock->unlock();
    const auto names = names_in(run, Fd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 3)), whole);
    if (lock) lock->lock();
    if (!whole) run.renew_ns = run.now_ns() + kRenewNs;
    std::vector<Found> found;
    for (const std::string& name : names)
      if (Found one; look(fd.get(), name, one)) found.push_back(std::move(one));
    enter(dir, found, &todo);
  }
}

bool Group::still_there(Node* node) {
  if (!node->parent) return true;
  const Fd fd = open_dir(node->parent);
  Key key;
  return fd && key_for(fd.get(), node->name.c_str(), key) && key == node->key;
}

// Makes the node for `name` in `dir` what is on disk now.
Group::Came Group::adopt(Node* dir, std::string_view name) {
  Run& run = *dir->run;
  if (run.ignored(name)) return Came::nothing;
  Node* there = dir->child(name);
  const Fd fd = open_dir(dir);
  Found found;
  const std::string text(name);
  if (!fd || !is_dir(fd.get(), text.c_str()) || !look(fd.get(), text, found)) {
    if (there) dirs_.drop(there);
    return Came::nothing;
  }
  if (there && !found.blind && there->key == found.key) return Came::same;
  if (there) dirs_.drop(there);
  Node* known = nullptr;
  if (!found.blind) dirs_.find(found.key, known);
  while (known && (known->run != &run || known->above || !known->parent)) known = known->same;
  if (known && !still_there(known)) {
    for (const Node* up = dir; up; up = up->parent)
      if (up == known) return run.lost = true, Came::nothing;  // the tree is wrong: begin anew
    dirs_.attach(dir, name, dirs_.detach(known));
    return Came::newly;
  }
  std::vector<Node*> below;
  enter(dir, {found}, &below);
  for (Node* node : below) scan(node, nullptr);
  return Came::newly;
}

// ---- The root ---------------------------------------------------------------

bool Group::open_root(Run& run, std::unique_lock<std::mutex>* lock) {
  Fd fd(::open(run.root_path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return false;
  Key key;
  errno = 0;
  if (!key_for(fd.get(), "", key)) {
    if (errno == 0) errno = EOPNOTSUPP;
    return false;
  }
  run.root_fd = std::move(fd);
  run.blind = 0;
  run.root = dirs_.make_root(&run, key, false);
  scan(run.root, lock);
  return true;
}

void Group::close_root(Run& run) {
  for (auto& node : run.displaced) dirs_.drop(std::move(node));
  run.displaced.clear();
  if (run.root) dirs_.drop(run.root);
  run.root = nullptr;
  run.root_fd = Fd();
}

// Our own descriptor keeps a removed root alive: the directory that holds it tells of its name. One
// on another file system holds a mount point, which cannot go.
void Group::watch_above(Run& run) {
  if (run.above_path.empty()) return;
  const Fd fd(::open(run.above_path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  Handle handle;
  if (!fd || !handle_at(fd.get(), "", handle)) return;
  uint64_t fsid = 0;
  if (!fsid_of(fd.get(), fsid)) return;
  if (std::find(marked_.begin(), marked_.end(), fsid) == marked_.end()) return;
  const Key key = key_of(fsid, handle.abi());
  if (run.above && run.above->key == key) return;
  if (run.above) dirs_.drop(run.above);
  run.above = dirs_.make_root(&run, key, true);
}

void Group::check_root(Run& run, uint64_t now_ns) {
  run.root_doubted = false;
  run.root_retry_ns = 0;
  // Watch first, look second: a root that is made in between is told of.
  watch_above(run);
  struct stat named {
  }, held{};
  const bool there = ::lstat(run.root_path.c_str(), &named) == 0 && S_ISDIR(named.st_mode);
  if (there && run.root && ::fstat(run.root_fd.get(), &held) == 0 && named.st_dev == held.st_dev &&
      named.st_ino == held.st_ino && held.st_nlink > 0)
    return;
  if (run.root) {
    close_root(run);
    run.hints.add(SG_HINT_ENTRY, SG_HINTF_GONE, "", "");
    run.say_state("gone", "the root was removed or renamed; waiting for it to come back",
                  runs_.size());
  }
  // While it is away the directory above may go as well, and nobody tells of that.
  if (!there || !open_root(run, nullptr)) {
    run.root_retry_ns = now_ns + kRootRetryNs;
    return;
  }
  run.say_state("native", "fanotify, after the root came back", runs_.size());
  run.hints.add(SG_HINT_TREE, SG_HINTF_BORN, "", "");
}

// Events were missed, or the disk could not be read: all of it from the beginning.
void Group::renew(Run& run) {
  run.renew_ns = 0;
  if (std::exchange(run.lost, false)) run.hints.lose_all();
  run.root_doubted = true;
  mounts_.clear();
  if (!run.root) return;
  close_root(run);
  if (open_root(run, nullptr)) {
    run.hints.add(SG_HINT_TREE, 0, "", "");
    return;
  }
  run.hints.add(SG_HINT_ENTRY, SG_HINTF_GONE, "", "");
  run.say_state("gone", "the root was removed or renamed; waiting for it to come back",
                runs_.size());
}

}  // namespace fanotify_watcher
