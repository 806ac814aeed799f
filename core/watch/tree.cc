#include "watch/tree.h"

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstring>
#include <new>

namespace sandglass::watch {

namespace {

struct NameHash {
  using is_transparent = void;
  size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
  size_t operator()(const Node* node) const { return (*this)(node->name()); }
};

struct NameEqual {
  using is_transparent = void;
  static std::string_view name(std::string_view text) { return text; }
  static std::string_view name(const Node* node) { return node->name(); }
  template <class A, class B>
  bool operator()(const A& a, const B& b) const {
    return name(a) == name(b);
  }
};

template <class T>
T* make_node(std::string_view name) {
  void* memory = ::operator new(sizeof(T) + name.size());
  T* node = new (memory) T;
  node->name_size = static_cast<uint16_t>(name.size());
  if (!name.empty()) std::memcpy(static_cast<char*>(memory) + sizeof(T), name.data(), name.size());
  return node;
}

}  // namespace

struct Dir::Children : boost::unordered_flat_set<Node*, NameHash, NameEqual> {};
struct Tree::Index : boost::unordered_flat_map<uint64_t, Node*> {};

static void free_node(Node* node) {
  if (Dir* dir = as_dir(node)) {
    if (dir->children)
      for (Node* child : *dir->children) free_node(child);
    delete dir->children;
  }
  ::operator delete(static_cast<void*>(node));
}

Tree::Tree() : root_(make_node<Dir>("")) {
  root_->type = Type::dir;
}

Tree::~Tree() {
  bury();
  free_node(root_);
}

Node* Tree::find(const Dir* dir, std::string_view name) const {
  if (!dir->children) return nullptr;
  auto it = dir->children->find(name);
  return it == dir->children->end() ? nullptr : *it;
}

Node* Tree::add(Dir* dir, std::string_view name, const Seen& seen, int64_t looked_ns) {
  const bool is_dir = seen.type == Type::dir;
  Node* node = is_dir ? make_node<Dir>(name) : make_node<Node>(name);
  node->type = seen.type;
  node->parent = dir;
  refresh(node, seen, looked_ns);
  if (!dir->children) dir->children = new Dir::Children;
  dir->children->insert(node);
  ++(is_dir ? dirs_ : files_);
  return node;
}

void Tree::refresh(Node* node, const Seen& seen, int64_t looked_ns) {
  if (seen.links > 1 && node->type == Type::file && !inodes_) index_all();
  if (node->inode != seen.inode) {
    unlink(node);
    node->inode = seen.inode;
    link(node);
  }
  node->size = seen.size;
  node->mode = seen.mode;
  node->mtime_ns = seen.mtime_ns;
  node->ctime_ns = seen.ctime_ns;
  node->looked_ns = looked_ns;
  node->shared = seen.links > 1;
}

void Tree::remove(Node* node) {
  unlink(node);
  node->parent->children->erase(node);
  --(node->type == Type::dir ? dirs_ : files_);
  node->gone = true;
  graves_.push_back(node);
}

void Tree::bury() {
  for (Node* node : graves_) free_node(node);
  graves_.clear();
}

void Tree::children(const Dir* dir, std::vector<Node*>& out) const {
  out.clear();
  if (dir->children) out.assign(dir->children->begin(), dir->children->end());
}

// Names of one inode form a ring that the index points into, so that a write through one hard link
// finds the others.
void Tree::index_all() {
  inodes_ = std::make_unique<Index>();
  std::vector<const Dir*> todo{root_};
  while (!todo.empty()) {
    const Dir* dir = todo.back();
    todo.pop_back();
    if (!dir->children) continue;
    for (Node* node : *dir->children) {
      if (const Dir* below = as_dir(node))
        todo.push_back(below);
      else
        link(node);
    }
  }
}

void Tree::link(Node* node) {
  if (!inodes_ || node->type != Type::file || !node->inode) return;
  auto [it, first] = inodes_->try_emplace(node->inode, node);
  if (first) return;
  Node* at = it->second;
  node->same = at->same ? at->same : at;
  at->same = node;
}

void Tree::unlink(Node* node) {
  if (!inodes_ || node->type != Type::file || !node->inode) return;
  auto it = inodes_->find(node->inode);
  if (!node->same) {
    inodes_->erase(it);
    return;
  }
  Node* before = node->same;
  while (before->same != node) before = before->same;
  before->same = node->same == before ? nullptr : node->same;
  it->second = before;
  node->same = nullptr;
}

static size_t path_size(const Node* node) {
  size_t size = 0;
  for (; node->parent; node = node->parent) size += node->name_size + 1u;
  return size;
}

std::string path_of(const Node* node) {
  size_t at = path_size(node);
  if (at == 0) return {};
  std::string path(at - 1, '/');
  for (; node->parent; node = node->parent) {
    at -= node->name_size + 1u;
    std::memcpy(path.data() + at, node->name().data(), node->name_size);
  }
  return path;
}

}  // namespace sandglass::watch
