#include "config/tree.h"

#include <algorithm>

#include "base/text.h"

namespace sandglass::config {

std::string Tree::path() const {
  std::string out;
  for (const Frame& frame : frames_) {
    if (frame.branch.value.kind == Kind::list)
      out = path_of(out, frame.branch.value.list.size());
    else if (frame.has_key)
      out = path_of(out, frame.key.string);
  }
  return out;
}

void Tree::problem(const Place& place, const std::string& what) {
  problems_.push_back(problem_at(place, path(), what));
}

const Value* Tree::waiting_key() const {
  return frames_.empty() || !frames_.back().has_key ? nullptr : &frames_.back().key;
}

bool Tree::at_key() const {
  return !frames_.empty() && frames_.back().branch.value.kind == Kind::map &&
         !frames_.back().has_key;
}

void Tree::spend(size_t nodes, const Place& place) {
  nodes_ += nodes;
  if (nodes_ > kMaxNodes)
    throw Stop{problem_at(place, path(),
                          "the file has more than 100,000 values once its aliases are "
                          "copied; make it smaller")};
}

void Tree::check_depth(int depth, const Place& place) {
  if (depth > kMaxDepth)
    throw Stop{problem_at(place, "", "nested deeper than 64 levels; make it flatter")};
}

void Tree::scalar(Value value, size_t anchor) {
  spend(1, value.place);
  finish({std::move(value), 1, 0}, anchor);
}

void Tree::open(Kind kind, const Place& place, size_t anchor) {
  spend(1, place);
  check_depth(static_cast<int>(frames_.size()) + 1, place);
  if (at_key()) throw Stop{problem_at(place, path(), "a key must be text, not a list or a map")};
  Frame frame;
  frame.branch.value.kind = kind;
  frame.branch.value.place = place;
  frame.anchor = anchor;
  frames_.push_back(std::move(frame));
}

void Tree::close() {
  merge(frames_.back());
  Frame frame = std::move(frames_.back());
  frames_.pop_back();
  finish(std::move(frame.branch), frame.anchor);
}

void Tree::alias(const Place& place, size_t anchor) {
  auto found = anchors_.find(anchor);
  if (found == anchors_.end())
    throw Stop{problem_at(place, path(), "this alias stands inside of what it names; remove it")};
  spend(found->second.nodes, place);
  check_depth(static_cast<int>(frames_.size()) + found->second.height, place);
  Branch copy = found->second;
  copy.value.place = place;
  add(std::move(copy));
}

void Tree::finish(Branch branch, size_t anchor) {
  if (anchor != 0) {
    kept_ += branch.nodes;
    if (kept_ > kMaxNodes)
      throw Stop{problem_at(branch.value.place, path(),
                            "anchors stand over more than 100,000 values; use fewer")};
    anchors_[anchor] = branch;
  }
  add(std::move(branch));
}

void Tree::add(Branch branch) {
  if (frames_.empty()) {
    root_ = std::move(branch.value);
    return;
  }
  if (at_key()) return add_key(std::move(branch.value));
  Frame& frame = frames_.back();
  frame.branch.nodes += branch.nodes;
  frame.branch.height = std::max(frame.branch.height, branch.height + 1);
  if (frame.branch.value.kind == Kind::list)
    frame.branch.value.list.push_back(std::move(branch.value));
  else
    add_entry(frame, std::move(branch));
}

void Tree::add_key(Value key) {
  if (key.kind == Kind::list || key.kind == Kind::map)
    throw Stop{problem_at(key.place, path(), "a key must be text, not a list or a map")};
  Frame& frame = frames_.back();
  frame.branch.nodes++;
  if (key.kind == Kind::null) problem(key.place, "a key is missing, or null; put it in quotes");
  frame.has_key = true;
  frame.key = std::move(key);
}

void Tree::add_entry(Frame& frame, Branch branch) {
  const bool merges = frame.key.string == "<<" && !frame.key.quoted;
  auto [first, fresh] = frame.seen.emplace(frame.key.string, frame.key.place);
  if (!fresh) {
    problem(frame.key.place, "is there twice, first on line " + std::to_string(first->second.line) +
                                 "; " +
                                 (merges ? "write << once, with a list: [*a, *b]" : "remove one"));
  } else if (merges) {
    frame.merges.push_back(std::move(branch));
  } else {
    frame.key.kind = Kind::string;
    frame.branch.value.map.emplace_back(std::move(frame.key), std::move(branch.value));
  }
  frame.key = Value();
  frame.has_key = false;
}

void Tree::merge_map(Frame& frame, Value&& from) {
  for (auto& [key, value] : from.map)
    if (frame.seen.emplace(key.string, key.place).second)
      frame.branch.value.map.emplace_back(std::move(key), std::move(value));
}

void Tree::merge(Frame& frame) {
  for (Branch& branch : frame.merges) {
    Value& from = branch.value;
    std::vector<Value> maps;
    if (from.kind == Kind::list)
      maps = std::move(from.list);
    else
      maps.push_back(std::move(from));
    for (Value& one : maps) {
      if (one.kind == Kind::map)
        merge_map(frame, std::move(one));
      else
        problem(one.place, "<< takes a map or a list of maps, not " + said(one));
    }
  }
  frame.merges.clear();
}

}  // namespace sandglass::config
