// All directories that are watched, of all sandboxes on one file system: found by handle, placed by
// name. A directory that moves keeps its node, with all below it; a path is made by walking up.
//
// Not thread-safe: the group's lock is held, but for looks at the disk that touch no node.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "handle.h"

namespace fanotify_watcher {

class Run;

struct Node {
  Run* run = nullptr;  // whose tree it is in; null once it was dropped
  Node* parent = nullptr;
  Node* same = nullptr;  // the same directory in another tree, or mounted at another place
  std::string name;
  Key key;
  bool above = false;  // not in the tree: the directory that holds the run's root
  using Children = std::unordered_map<std::string_view, std::unique_ptr<Node>>;
  std::unique_ptr<Children> children;

  Node* child(std::string_view named) const;
};

class Dirs {
 public:
  // The nodes of a directory, linked by `same`; null where it is nobody's. False: never heard of.
  bool find(const Key& key, Node*& node) const;
  // Nobody's: its events cost one look-up from now on. At most kForeign are remembered.
  void set_foreign(const Key& key);

  Node* make_root(Run* run, const Key& key, bool above);
  Node* add(Node* dir, std::string_view name, const Key& key);
  // Out of its place, with all below; still found by its handle.
  std::unique_ptr<Node> detach(Node* node);
  Node* attach(Node* dir, std::string_view name, std::unique_ptr<Node> node);
  // With all below. Stays readable, run null, until bury().
  void drop(Node* node);
  void drop(std::unique_ptr<Node> node);
  void bury() { graves_.clear(); }

  // "a/b", or false where it is in no tree now. The text is valid until the next call.
  bool path_of(const Node* node, std::string_view& path);

 private:
  static constexpr size_t kForeign = 65'536;
  void enter(Node* node);
  void forget(Node* node);

  std::unordered_map<Key, Node*, KeyHash> by_key_;
  std::vector<std::unique_ptr<Node>> graves_;
  std::vector<std::unique_ptr<Node>> roots_;
  size_t foreign_ = 0;
  const Node* memo_ = nullptr;  // the node that path_ is of
  std::string path_;
};

}  // namespace fanotify_watcher
