// The directories that are watched: a tree of nodes, each with its watch descriptor.
//
// Where a directory is, is not learnt from rename events but by opening the path and asking for a
// watch: the kernel gives one descriptor per inode, so a known descriptor at a new place is a
// directory that moved. A directory whose name went away waits in limbo, with its watches, until it
// is found again or kLimboNs have passed. Only the run's thread uses this.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../common/fd.h"

namespace inotify_watcher {

using watcher_common::Fd;

struct Node {
  Node* parent = nullptr;
  std::string name;
  int wd = -1;
  uint64_t device = 0;
  uint64_t inode = 0;
  bool blind = false;    // no watch could be had for it, or none would tell
  bool foreign = false;  // the latter: a mount of a file system that others change
  bool stale = false;    // something below it changed while it could not be reached: read it again
  std::vector<std::unique_ptr<Node>> children;  // in order of their names
};

constexpr uint64_t kLimboNs = 30'000'000;

class Watches {
 public:
  enum class Came {
    nothing,  // no such directory, or it can not be watched
    same,     // known, at this place
    newly,    // new here: all below it was watched and must be looked at
    blind,    // no watches left, or no use in one
  };
  using Tell = std::function<void(uint32_t kind, const Node* dir)>;

  // `tell` hears BLIND and SEEING.
  Watches(int inotify, const std::vector<std::string>& ignore, Tell tell);

  // Opens `path` and watches it with all below. False with errno set.
  bool open_root(const std::string& path);
  void close_root();
  bool root_open() const { return root_ != nullptr; }
  bool is_root(uint64_t device, uint64_t inode) const;

  Node* find(int wd) const;
  Node* child(Node* dir, std::string_view name) const;
  bool ignored(std::string_view name) const;
  // "a/b", or false where the directory is in limbo. The text is valid until the next call.
  bool path_of(const Node* node, std::string_view& path);

  // Makes the node for `name` in `dir` what is on disk now.
  Came adopt(Node* dir, std::string_view name);
  // The kernel dropped the watch.
  void forget(int wd);
  // Events were lost: sees to it that every directory there is has its watch.
  void renew();
  // Drops what has been in limbo too long. Returns when to call again, 0 for never.
  uint64_t clear_limbo(uint64_t now_ns);
  // True once after descriptors or memory ran short: call renew() a little later.
  bool take_short() { return std::exchange(short_, false); }
  void stamp(uint64_t now_ns) { now_ns_ = now_ns; }

  size_t count() const { return by_wd_.size(); }
  size_t blind() const { return blind_; }      // for want of watches
  size_t foreign() const { return foreign_; }  // because none would tell
  void retry_blind();
  // Directories below the root, watched or not; for people.
  size_t count_dirs() const;

 private:
  struct Limbo {
    std::unique_ptr<Node> node;
    uint64_t since_ns;
  };

  Fd open_below(const Node* node);
  int add_watch(int fd) const;
  Came place(Node* dir, std::string_view name, int fd);
  Came see(Node* node, int wd);
  void scan(Node* top);
  void read(Node* node, int fd, int depth);
  Fd enter(int at, const std::string& name);
  std::vector<std::string> names_in(int fd) const;
  std::unique_ptr<Node> detach(Node* node);
  void send_to_limbo(Node* node);
  void attach(Node* dir, std::string_view name, std::unique_ptr<Node> node);
  void set_blind(Node* node, bool blind);
  void drop(Node* node);
  size_t count_dirs(int fd, int depth) const;

  const int inotify_;
  const std::vector<std::string> ignore_;
  const Tell tell_;
  Fd root_fd_;
  std::unique_ptr<Node> root_;
  std::unordered_map<int, Node*> by_wd_;
  std::vector<Limbo> limbo_;
  size_t blind_ = 0, foreign_ = 0;
  bool short_ = false;
  uint64_t now_ns_ = 0;
  const Node* memo_ = nullptr;  // the node that path_ is of
  std::string path_;
};

}  // namespace inotify_watcher
