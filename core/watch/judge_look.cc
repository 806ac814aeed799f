// The judge's looks: one lstat per marked name, a walk per directory that needs comparing.
#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "watch/judge.h"
#include "watch/verdict.h"

namespace sandglass::watch {

void Judge::look_at_marked(bool may_hold) {
  for (size_t i = 0, end = dirty_.size(); i < end; ++i) {
    const Place place = place_of(dirty_[i].path);
    if (!place.dir || place.cut) continue;
    const Node* node = tree_.find(place.dir, place.name);
    if (node && node->shared) mark_other_names(node, dirty_[i].cause);
  }
  while (looked_at_ < dirty_.size()) {
    const Dirty dirty = dirty_[looked_at_++];
    look_at(dirty.path, dirty.cause, may_hold);
  }
}

void Judge::look_at(std::string_view path, Cause cause, bool may_hold) {
  awaits_ = !cause.writers.empty() && !(cause.flags & SG_HINTF_CLOSED);
  came_with_ = cause.flags & SG_HINTF_CLOSED ? cause.writers : Writers();
  if (path.empty()) return look_at_root(cause);
  const Place place = place_of(path);
  if (!place.dir) return;
  if (place.cut) cause = {0, cause.writers, true, false, cause.seen_ns};
  Seen seen;
  Found found = disk_.look(place.dir_path, place.name, seen);
  if (found == Found::unknown) return;
  if (found == Found::busy) return hold(place.path, cause, looked_ns_ + kRetryNs);
  if (found == Found::present && seen.type == Type::dir && ignored(place.name))
    found = Found::absent;
  if (found == Found::present) {
    visit(place, seen, cause, may_hold);
    walk_all();
    return;
  }
  if (!held_.empty()) held_.erase(std::string(place.path));
  if (Node* node = tree_.find(place.dir, place.name)) drop(node, cause);
}

// The root is asked for by its path: it may have been removed and made again.
void Judge::look_at_root(const Cause& cause) {
  const uint64_t device = disk_.root_device(), inode = disk_.root_inode();
  if (auto opened = disk_.open(local_root_); !opened) {
    if (opened.error().fault == Fault::not_found)
      drop_below(tree_.root(), cause);
    else
      hold("", cause, looked_ns_ + kRetryNs);
    return;
  }
  const bool other = device != disk_.root_device() || inode != disk_.root_inode();
  if (!cause.whole && !other && !(cause.flags & (SG_HINTF_BORN | SG_HINTF_GONE))) return;
  if (other) tree_.root()->walked = tree_.root()->away = 0;
  to_walk_.push_back({tree_.root(), other || (cause.flags & SG_HINTF_GONE)});
  walk_all();
}

void Judge::visit(const Place& place, const Seen& seen, Cause cause, bool may_hold) {
  const Node* node = tree_.find(place.dir, place.name);
  const bool may_wait = may_hold && seen.type == Type::file && seen.links == 1;
  if (held_.empty()) {
    if (may_wait && must_wait(node, seen, cause))
      return hold(place.path, cause, looked_ns_ + kHoldNs);
  } else if (auto held = held_.find(std::string(place.path)); held != held_.end()) {
    Cause since = held->second.cause;  // first, so that the last writer stays the last
    since.fold(cause);
    cause = since;
    if (may_wait && must_wait(node, seen, cause)) {
      held->second.cause = cause;
      return;
    }
    held_.erase(held);
  } else if (may_wait && must_wait(node, seen, cause)) {
    return hold(place.path, cause, looked_ns_ + kHoldNs);
  }
  meet(place.dir, place.name, seen, cause);
}

// True for a file that has something to tell and whose writer has not closed it yet.
bool Judge::must_wait(const Node* node, const Seen& seen, const Cause& cause) const {
  if (cause.flags & SG_HINTF_CLOSED) return false;
  if (!(cause.flags & (SG_HINTF_BORN | SG_HINTF_DATA | kUnhinted))) return false;
  if (!node) return true;
  return node->type == seen.type &&
         verdict_of(*node, seen, cause.flags, cause.seen_ns) != Verdict::same;
}

void Judge::hold(std::string_view path, const Cause& cause, int64_t due_ns) {
  auto [it, first] = held_.try_emplace(std::string(path), Held{cause, due_ns});
  if (!first) it->second.cause.fold(cause);
  next_due_ = std::min(next_due_, it->second.due_ns);
}

// Compares a name that is there with the tree and enters it. Directories to compare go to to_walk_.
Node* Judge::meet(Dir* dir, std::string_view name, const Seen& seen, const Cause& cause) {
  Node* node = tree_.find(dir, name);
  if (node && node->type != seen.type) {
    drop(node, cause);
    node = nullptr;
  }
  // Other names of the file that is here now, which may not be the one that was.
  const bool known = node && node->shared && node->inode == seen.inode;
  const bool more_names = seen.links > 1 && !known;
  if (!node) {
    node = tree_.add(dir, name, seen, looked_ns_);
    if (seen.type == Type::dir) {
      to_walk_.push_back({static_cast<Dir*>(node), false});
    } else {
      node->fresh = true;
      news_.push_back({node, cause, false});
    }
  } else if (seen.type == Type::dir) {
    Dir* below = static_cast<Dir*>(node);
    const bool other = node->inode && seen.inode && node->inode != seen.inode;
    if (other) below->walked = below->away = 0;
    if (cause.whole || other || (cause.flags & (SG_HINTF_BORN | SG_HINTF_GONE)))
      to_walk_.push_back({below, other || (cause.flags & SG_HINTF_GONE)});
    tree_.refresh(node, seen, looked_ns_);
  } else {
    const Verdict verdict = verdict_of(*node, seen, cause.flags, cause.seen_ns);
    tree_.refresh(node, seen, looked_ns_);
    if (verdict != Verdict::same) tell(node, cause, verdict == Verdict::meta);
  }
  if (more_names && seen.type == Type::file && !cause.echo) mark_other_names(node, cause);
  return node;
}

void Judge::walk_all() {
  while (!to_walk_.empty()) {
    const auto [dir, was_away] = to_walk_.back();
    to_walk_.pop_back();
    // A walk sees all that the hints of its batch were about: once is enough, or a chain of new
    // directories, each with a hint of its own, would be walked from every link on.
    if (dir->gone || dir->away == batch_ || (dir->walked == batch_ && !was_away)) continue;
    dir->walked = batch_;
    if (was_away) dir->away = batch_;
    walk(dir, was_away);
  }
}

// Makes the tree equal to one directory as it is on disk; those in it go to to_walk_. All below one
// that was away was away with it.
void Judge::walk(Dir* dir, bool was_away) {
  const std::string path = path_of(dir);
  looked_ns_ = mono_ns();
  const uint32_t flags = (hinted_ ? 0 : kUnhinted) | (was_away ? SG_HINTF_GONE : 0);
  const Cause cause{flags, came_with_, true, false, looked_ns_};
  const Found read = disk_.list(path, listed_);
  if (read == Found::busy) hold(path, cause, looked_ns_ + kRetryNs);
  if (read == Found::absent) {  // went while we walked; its own hint is on the way
    if (dir->parent) drop(dir, cause);
    return;
  }
  const uint32_t number = ++walk_;
  for (const Listed& entry : listed_) {
    if (entry.is_dir && ignored(entry.name)) continue;
    Seen seen;
    const Found found = disk_.look(path, entry.name, seen);
    Node* node = nullptr;
    if (awaits_ && found == Found::present && seen.type != Type::dir &&
        tells_of_itself(dir, path, entry.name))
      continue;
    if (found == Found::present && !(seen.type == Type::dir && ignored(entry.name)))
      node = meet(dir, entry.name, seen, cause);
    else if (found == Found::unknown || found == Found::busy)
      node = tree_.find(dir, entry.name);  // it is there; what it is could not be told
    if (node) node->met = number;
  }
  if (read == Found::present) drop_unmet(dir, &path, cause);
}

// True for a new file where its own hint, which knows who wrote it, is in this batch or surely on
// its way.
bool Judge::tells_of_itself(const Dir* dir, const std::string& dir_path, std::string_view name) {
  if (tree_.find(dir, name)) return false;
  std::string path = dir_path.empty() ? "" : dir_path + "/";
  path += name;
  const auto hinted = dirty_at_.find(path);
  if (hinted != dirty_at_.end()) return hinted->second >= looked_at_;
  hold(path, {0, {}, false, false, looked_ns_}, looked_ns_ + kHoldNs);
  return true;
}

// What the walk did not meet is gone. Where we can look we ask once more: a name replaced while its
// directory was being read may have been passed over.
void Judge::drop_unmet(Dir* dir, const std::string* path, const Cause& cause) {
  tree_.children(dir, nodes_);
  const uint32_t number = walk_;
  std::erase_if(nodes_, [&](const Node* node) { return node->met == number; });
  const std::vector<Node*> unmet = std::move(nodes_);
  for (Node* node : unmet) {
    Seen seen;
    const Found found = path ? disk_.look(*path, node->name(), seen) : Found::absent;
    if (found == Found::unknown || found == Found::busy) continue;
    if (found == Found::present && !(seen.type == Type::dir && ignored(node->name())))
      meet(dir, std::string(node->name()), seen, cause);
    else
      drop(node, cause);
  }
}

}  // namespace sandglass::watch
