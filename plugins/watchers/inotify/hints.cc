#include "hints.h"

namespace inotify_watcher {

void Hints::add(uint32_t kind, uint32_t flags, std::string_view dir, std::string_view name) {
  const size_t slash = !dir.empty() && !name.empty();
  const size_t size = dir.size() + slash + name.size();
  if (!list_.empty() && list_.back().kind == kind && list_.back().size == size) {
    const std::string_view last = path(list_.back());
    if (last.ends_with(name) && last.starts_with(dir)) {
      list_.back().flags |= flags;
      return;
    }
  }
  list_.push_back({kind, flags, paths_.size(), size});
  paths_.append(dir);
  if (slash) paths_ += '/';
  paths_.append(name);
}

void Hints::lose_all() {
  std::erase_if(list_, [](const Item& item) {
    return item.kind == SG_HINT_ENTRY || item.kind == SG_HINT_TREE;
  });
  add(SG_HINT_LOST, 0, "", "");
}

sg_status Hints::send(sg_watch_sink* sink) {
  if (list_.empty()) return SG_OK;
  hints_.resize(list_.size());
  pointers_.resize(list_.size());
  for (size_t i = 0; i < list_.size(); ++i) {
    sg_hint& hint = hints_[i];
    hint = {};
    hint.struct_size = sizeof hint;
    hint.kind = list_[i].kind;
    hint.flags = list_[i].flags;
    hint.pidfd = -1;
    hint.seen_ns = seen_ns_;
    hint.path = {reinterpret_cast<const uint8_t*>(paths_.data()) + list_[i].at, list_[i].size};
    pointers_[i] = &hint;
  }
  const sg_status status = sink->hints(sink, pointers_.data(), pointers_.size());
  list_.clear();
  paths_.clear();
  return status;
}

}  // namespace inotify_watcher
