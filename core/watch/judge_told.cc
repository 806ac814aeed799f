// What a watcher tells of a tree that this machine cannot see: facts about files, and listings.
#include <algorithm>

#include "base/clock.h"
#include "watch/judge.h"
#include "watch/verdict.h"

namespace sandglass::watch {

// The directory node for `path`, made where it is not there. Null below an ignored name.
Dir* Judge::make_dirs(std::string_view path, const Cause& cause) {
  Dir* dir = tree_.root();
  for (size_t at = 0; at < path.size();) {
    const size_t end = std::min(path.find('/', at), path.size());
    const std::string_view name = path.substr(at, end - at);
    if (ignored(name)) return nullptr;
    Node* next = tree_.find(dir, name);
    if (next && next->type != Type::dir) {
      drop(next, cause);
      next = nullptr;
    }
    if (!next) {
      Seen seen;
      seen.type = Type::dir;
      next = tree_.add(dir, name, seen, looked_ns_);
    }
    dir = static_cast<Dir*>(next);
    at = end + 1;
  }
  return dir;
}

void Judge::fact(const Hint& hint) {
  const Cause cause{hint.flags, hint.pid, false, false, hint.seen_ns ? hint.seen_ns : looked_ns_};
  if (hint.path.empty()) return;
  const Place place = place_of(hint.path);
  Node* node = place.dir && !place.cut ? tree_.find(place.dir, place.name) : nullptr;
  if (hint.kind == SG_HINT_DELETED) {
    if (node) drop(node, cause);
    return;
  }
  if (hint.kind != SG_HINT_CREATED && hint.kind != SG_HINT_CHANGED) return;
  if (node) {
    if (node->type != Type::dir) tell(node, cause, false);
    return;
  }
  const size_t last = hint.path.rfind('/');
  const bool nested = last != std::string_view::npos;
  Dir* dir = make_dirs(nested ? hint.path.substr(0, last) : std::string_view(), cause);
  if (!dir) return;
  Seen seen;
  seen.type = Type::file;
  node = tree_.add(dir, nested ? hint.path.substr(last + 1) : hint.path, seen, looked_ns_);
  node->fresh = true;
  news_.push_back({node, cause, false});
}

std::vector<FileChange> Judge::listings(std::span<const Listing> listings) {
  looked_ns_ = mono_ns();
  for (const Listing& one : listings) list(one);
  to_walk_.clear();  // each directory is listed by itself
  return finish();   // and so is each name of a file
}

void Judge::list(const Listing& listing) {
  const Cause cause{kUnhinted, 0, false, false, looked_ns_};
  Dir* dir = make_dirs(listing.dir, cause);
  if (!dir) return;
  const uint32_t number = ++walk_;
  for (const Entry& entry : listing.entries) {
    if (entry.seen.type == Type::dir && ignored(entry.name)) continue;
    meet(dir, entry.name, entry.seen, cause)->met = number;
  }
  if (listing.complete) drop_unmet(dir, nullptr, cause);
}

}  // namespace sandglass::watch
