#include "dirs.h"

#include <algorithm>

#include "run.h"

namespace fanotify_watcher {

Node* Node::child(std::string_view named) const {
  if (!children) return nullptr;
  const auto it = children->find(named);
  return it == children->end() ? nullptr : it->second.get();
}

bool Dirs::find(const Key& key, Node*& node) const {
  const auto it = by_key_.find(key);
  if (it == by_key_.end()) return false;
  node = it->second;
  return true;
}

void Dirs::set_foreign(const Key& key) {
  if (foreign_ >= kForeign) {
    std::erase_if(by_key_, [](const auto& entry) { return !entry.second; });
    foreign_ = 0;
  }
  if (by_key_.try_emplace(key, nullptr).second) ++foreign_;
}

void Dirs::enter(Node* node) {
  const auto [it, first] = by_key_.try_emplace(node->key, nullptr);
  if (!first && !it->second) --foreign_;
  node->same = it->second;
  it->second = node;
}

// Found by its handle no more.
void Dirs::forget(Node* node) {
  if (const auto it = by_key_.find(node->key); it != by_key_.end()) {
    for (Node** at = &it->second; *at; at = &(*at)->same) {
      if (*at != node) continue;
      *at = node->same;
      break;
    }
    if (!it->second) by_key_.erase(it);
  }
  if (node->run && !node->above) --node->run->dirs;
  node->run = nullptr;
  node->same = nullptr;
}

Node* Dirs::make_root(Run* run, const Key& key, bool above) {
  auto node = std::make_unique<Node>();
  node->run = run;
  node->key = key;
  node->above = above;
  enter(node.get());
  if (!above) ++run->dirs;
  memo_ = nullptr;
  return roots_.emplace_back(std::move(node)).get();
}

Node* Dirs::add(Node* dir, std::string_view name, const Key& key) {
  auto node = std::make_unique<Node>();
  node->run = dir->run;
  node->key = key;
  enter(node.get());
  ++dir->run->dirs;
  return attach(dir, name, std::move(node));
}

std::unique_ptr<Node> Dirs::detach(Node* node) {
  memo_ = nullptr;
  const auto it = node->parent->children->find(node->name);
  std::unique_ptr<Node> out = std::move(it->second);
  node->parent->children->erase(it);
  if (node->parent->children->empty()) node->parent->children.reset();
  node->parent = nullptr;
  return out;
}

Node* Dirs::attach(Node* dir, std::string_view name, std::unique_ptr<Node> node) {
  memo_ = nullptr;
  node->parent = dir;
  node->name = name;
  Node* out = node.get();
  if (!dir->children) dir->children = std::make_unique<Node::Children>();
  dir->children->emplace(out->name, std::move(node));
  return out;
}

void Dirs::drop(std::unique_ptr<Node> node) {
  memo_ = nullptr;
  size_t next = graves_.size();
  graves_.push_back(std::move(node));
  for (; next < graves_.size(); ++next) {  // level by level: a tree may be deeper than a stack
    Node* one = graves_[next].get();
    forget(one);
    if (!one->children) continue;
    for (auto& [_, child] : *one->children) graves_.push_back(std::move(child));
    one->children.reset();
  }
}

void Dirs::drop(Node* node) {
  if (node->parent) return drop(detach(node));
  const auto it = std::find_if(roots_.begin(), roots_.end(),
                               [&](const auto& root) { return root.get() == node; });
  std::unique_ptr<Node> out = std::move(*it);
  roots_.erase(it);
  drop(std::move(out));
}

bool Dirs::path_of(const Node* node, std::string_view& path) {
  if (memo_ != node) {
    const Node* top = node;
    size_t size = 0;
    for (; top->parent; top = top->parent) size += top->name.size() + 1;
    if (!top->run || top != top->run->root) return false;
    path_.assign(size ? size - 1 : 0, '/');
    for (const Node* at = node; at->parent; at = at->parent) {
      size -= at->name.size() + 1;
      path_.replace(size, at->name.size(), at->name);
    }
    memo_ = node;
  }
  path = path_;
  return true;
}

}  // namespace fanotify_watcher
