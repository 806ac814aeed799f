#include "watch/judge.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/clock.h"
#include "base/text.h"
#include "event/event.h"
#include "watch/verdict.h"

namespace sandglass::watch {

// A file with more names than this is followed by its first ones only; the others wait for an
// audit.
constexpr int kNamesFollowed = 64;
constexpr size_t kNewsKept = 4096;  // of a batch, as room for the next

void Judge::Cause::fold(const Cause& other) {
  flags |= other.flags;
  whole |= other.whole;
  echo &= other.echo;
  writers.add(other.writers);
  seen_ns = std::max(seen_ns, other.seen_ns);
}

Judge::Judge(std::string local_root, std::vector<std::string> ignore)
    : local_root_(std::move(local_root)), ignore_(std::move(ignore)) {}

Status Judge::begin() {
  if (!looks()) return {};
  char* real = ::realpath(local_root_.c_str(), nullptr);
  if (!real) return fail_errno(errno, "cannot watch " + shown(local_root_));
  local_root_ = real;
  std::free(real);
  if (auto opened = disk_.open(local_root_); !opened) return opened;
  looked_ns_ = mono_ns();
  mark("", {0, 0, true, false, looked_ns_});
  look_at_marked(false);
  for (const News& news : news_) news.node->fresh = false;
  end_batch();
  return {};
}

std::vector<FileChange> Judge::hints(std::span<const Hint> hints) {
  looked_ns_ = mono_ns();
  for (const Hint& hint : hints) {
    if (!looks()) {
      fact(hint);
      continue;
    }
    const bool whole = hint.kind == SG_HINT_TREE;
    // A watcher that only compares cannot say what happened: stat must explain it.
    const uint32_t flags = hint.flags || whole ? hint.flags : kUnhinted;
    mark(hint.path, {flags, hint.pid, whole, false, hint.seen_ns});
  }
  look_at_marked(true);
  return finish();
}

std::vector<FileChange> Judge::release(int64_t now_ns, bool all) {
  looked_ns_ = mono_ns();
  next_due_ = kNever;
  for (auto it = held_.begin(); it != held_.end();) {
    if (!all && it->second.due_ns > now_ns) {
      next_due_ = std::min(next_due_, it->second.due_ns);
      ++it;
      continue;
    }
    mark(texts_.emplace_back(it->first), it->second.cause);
    it = held_.erase(it);
  }
  look_at_marked(false);
  return finish();
}

std::vector<FileChange> Judge::compare(std::string_view path, bool hinted) {
  looked_ns_ = mono_ns();
  hinted_ = hinted;
  mark(path, {0, 0, true, false, looked_ns_});
  look_at_marked(false);
  return finish();
}

std::vector<FileChange> Judge::rescan() {
  std::vector<FileChange> batch;
  batch.push_back({ChangeKind::rescan, 0, "", mono_ns(), 0});
  if (!looks()) return batch;
  auto found = compare("", false);
  std::move(found.begin(), found.end(), std::back_inserter(batch));
  return batch;
}

bool Judge::ignored(std::string_view name) const {
  return std::find(ignore_.begin(), ignore_.end(), name) != ignore_.end();
}

bool Judge::knows_dir(std::string_view path) const {
  Node* node = tree_.root();
  for (size_t at = 0; node && at < path.size();) {
    const size_t end = std::min(path.find('/', at), path.size());
    const Dir* dir = as_dir(node);
    node = dir ? tree_.find(dir, path.substr(at, end - at)) : nullptr;
    at = end + 1;
  }
  return as_dir(node) != nullptr;
}

// ---- What to look at --------------------------------------------------------

void Judge::mark(std::string_view path, const Cause& cause) {
  size_t at = dirty_.size();
  if (at > looked_at_ && dirty_.back().path == path) {
    dirty_.back().cause.fold(cause);
    return;
  }
  if (at > 0) {
    if (dirty_at_.empty()) dirty_at_.emplace(dirty_[0].path, 0);
    auto [it, first] = dirty_at_.try_emplace(path, at);
    if (!first && it->second >= looked_at_) {
      dirty_[it->second].cause.fold(cause);
      return;
    }
    it->second = at;
  }
  dirty_.push_back({path, cause});
}

// A write through one hard link changes all; making or removing one moves the others' ctime.
void Judge::mark_other_names(const Node* node, const Cause& cause) {
  Cause echo = cause;
  echo.flags &= SG_HINTF_DATA | SG_HINTF_META | SG_HINTF_CLOSED | kUnhinted;
  if (!echo.flags) echo.flags = SG_HINTF_META;
  echo.echo = true;
  echo.whole = false;
  int left = kNamesFollowed;
  for (const Node* other = node->same; other && other != node && left > 0; other = other->same) {
    mark(texts_.emplace_back(path_of(other)), echo);
    --left;
  }
}

Judge::Place Judge::place_of(std::string_view path) {
  const size_t last = path.rfind('/');
  Place place;
  place.path = path;
  if (last != std::string_view::npos) place.dir_path = path.substr(0, last);
  place.name = last == std::string_view::npos ? path : path.substr(last + 1);
  if (memo_ && !memo_->gone && memo_path_ == place.dir_path) {
    place.dir = memo_;
    return place;
  }
  Dir* dir = tree_.root();
  for (size_t at = 0; at < place.dir_path.size();) {
    const size_t end = std::min(path.find('/', at), path.size());
    const std::string_view name = path.substr(at, end - at);
    if (ignored(name)) return {};
    Dir* next = as_dir(tree_.find(dir, name));
    if (!next) {  // not reported yet: then all below it is new as well
      place.path = path.substr(0, end);
      place.dir_path = path.substr(0, at ? at - 1 : 0);
      place.name = name;
      place.cut = true;
      place.dir = dir;
      return place;
    }
    dir = next;
    at = end + 1;
  }
  place.dir = memo_ = dir;
  memo_path_.assign(place.dir_path);
  return place;
}

// ---- What to tell -----------------------------------------------------------

void Judge::tell(Node* node, const Cause& cause, bool meta) {
  if (!node->fresh && !node->changed) {
    node->changed = true;
    news_.push_back({node, cause, meta});
    return;
  }
  for (auto it = news_.rbegin(); it != news_.rend(); ++it) {
    if (it->node != node) continue;
    it->cause.fold(cause);
    it->meta &= meta;
    return;
  }
}

void Judge::drop(Node* node, const Cause& cause) {
  if (Dir* dir = as_dir(node)) {
    drop_below(dir, cause);
  } else {
    if (node->shared) mark_other_names(node, {SG_HINTF_META, 0, false, true, cause.seen_ns});
    if (!node->fresh) {
      const uint32_t flags = node->type == Type::link ? uint32_t{event_symlink} : 0;
      deletes_.push_back({ChangeKind::remove, flags, path_of(node), cause.seen_ns, cause.writers});
    }
  }
  tree_.remove(node);
}

void Judge::drop_below(Dir* dir, const Cause& cause) {
  std::vector<Node*> children;
  tree_.children(dir, children);
  for (Node* child : children) drop(child, cause);
}

std::vector<FileChange> Judge::finish() {
  std::vector<FileChange> batch = std::move(deletes_);
  batch.reserve(batch.size() + news_.size());
  for (const News& news : news_) {
    Node* node = news.node;
    if (node->gone) continue;
    uint32_t flags = node->type == Type::link ? uint32_t{event_symlink} : 0;
    if (!node->fresh && news.meta) flags |= event_meta_only;
    const ChangeKind kind = node->fresh ? ChangeKind::create : ChangeKind::change;
    node->fresh = node->changed = false;
    node->told = true;
    batch.push_back({kind, flags, path_of(node), news.cause.seen_ns, news.cause.writers});
  }
  end_batch();
  return batch;
}

void Judge::end_batch() {
  deletes_.clear();
  news_.clear();
  if (news_.capacity() > kNewsKept) news_.shrink_to_fit();
  dirty_.clear();
  dirty_at_.clear();
  texts_.clear();
  ++batch_;
  looked_at_ = 0;
  hinted_ = false;
  memo_ = nullptr;
  tree_.bury();
  disk_.forget();
}

}  // namespace sandglass::watch
