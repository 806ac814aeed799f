// The tree of what has been reported: one node per name, as its last look found it.
//
// About 110 bytes a file, and 30 more from when the first hard link was seen: then names of one
// inode are found through an index. Not thread-safe: the judge owns one, under its caller's
// lock. Nodes have stable addresses. A removed node stays readable (`gone`) until bury(), so that a
// batch may still hold pointers to it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sandglass::watch {

enum class Type : uint8_t { file = 'f', dir = 'd', link = 'l', other = 'o' };

// What one look at a name found. Times are ns since 1970; what a watcher could not tell is 0.
struct Seen {
  Type type = Type::other;
  uint16_t mode = 0;  // permission bits
  uint32_t links = 1;
  uint64_t size = 0;
  uint64_t inode = 0;
  int64_t mtime_ns = 0;
  int64_t ctime_ns = 0;
};

struct Dir;

struct Node {
  Dir* parent = nullptr;  // null for the root
  Node* same = nullptr;   // next name of the same inode, a ring; null when alone
  uint64_t size = 0;
  uint64_t inode = 0;
  int64_t mtime_ns = 0;
  int64_t ctime_ns = 0;
  int64_t looked_ns = 0;  // mono_ns() just before the look
  uint32_t met = 0;       // number of the walk that met it last
  uint16_t mode = 0;
  uint16_t name_size = 0;
  Type type = Type::other;
  bool gone : 1 = false;     // removed, waits for bury()
  bool fresh : 1 = false;    // its create has not been handed on yet
  bool changed : 1 = false;  // its change has not been handed on yet
  bool shared : 1 = false;   // the last look found more than one hard link
  bool told : 1 = false;     // a create or change was handed on: someone may have read it since

  std::string_view name() const;
};

struct Dir : Node {
  uint32_t walked = 0;  // number of the batch that compared it last,
  uint32_t away = 0;    // and of the last one that did so because it had been away
  struct Children;
  Children* children = nullptr;  // null while empty
};

// It stands behind the node itself.
inline std::string_view Node::name() const {
  const size_t at = type == Type::dir ? sizeof(Dir) : sizeof(Node);
  return {reinterpret_cast<const char*>(this) + at, name_size};
}

class Tree {
 public:
  Tree();
  ~Tree();
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  Dir* root() const { return root_; }
  size_t files() const { return files_; }  // everything that is no directory
  size_t dirs() const { return dirs_; }    // without the root

  Node* find(const Dir* dir, std::string_view name) const;
  // The name must not be there yet and at most 65,535 bytes long.
  Node* add(Dir* dir, std::string_view name, const Seen& seen, int64_t looked_ns);
  // Takes over what a look found; the type stays.
  void refresh(Node* node, const Seen& seen, int64_t looked_ns);
  // Takes out a node without children.
  void remove(Node* node);
  // Frees what was removed. Pointers to it end here.
  void bury();

  void children(const Dir* dir, std::vector<Node*>& out) const;

 private:
  struct Index;
  void index_all();
  void link(Node* node);
  void unlink(Node* node);

  Dir* root_;
  std::unique_ptr<Index> inodes_;  // of regular files; null until one has two names
  std::vector<Node*> graves_;
  size_t files_ = 0;
  size_t dirs_ = 0;
};

// "a/b/c"; "" for the root.
std::string path_of(const Node* node);

inline Dir* as_dir(Node* node) {
  return node && node->type == Type::dir ? static_cast<Dir*>(node) : nullptr;
}

}  // namespace sandglass::watch
