#include "hints.h"

namespace watcher_common {

void Hints::add(uint32_t kind, uint32_t flags, std::string_view dir, std::string_view name,
                int32_t pid) {
  const size_t slash = !dir.empty() && !name.empty();
  const size_t size = dir.size() + slash + name.size();
  if (!list_.empty()) {
    Item& last = list_.back();
    if (last.kind == kind && last.size == size && last.pid == pid && path(last).ends_with(name) &&
        path(last).starts_with(dir)) {
      last.flags |= flags;
      last.seen_ns = seen_ns_;
      return;
    }
  }
  list_.push_back({kind, flags, pid, seen_ns_, paths_.size(), size});
  paths_.append(dir);
  if (slash) paths_ += '/';
  paths_.append(name);
}

void Hints::lose_all() {
  std::erase_if(list_, [](const Item& item) {
    return item.kind == SG_HINT_ENTRY || item.kind == SG_HINT_TREE || item.kind == SG_HINT_LOST;
  });
  list_.push_back({SG_HINT_LOST, 0, 0, seen_ns_, 0, 0});
}

void Hints::take(Hints& other) {
  const size_t before = paths_.size();
  paths_ += other.paths_;
  for (Item item : other.list_) {
    item.at += before;
    list_.push_back(item);
  }
  other.list_.clear();
  other.paths_.clear();
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
    hint.pid = list_[i].pid;
    hint.pidfd = -1;
    hint.seen_ns = list_[i].seen_ns;
    hint.path = {reinterpret_cast<const uint8_t*>(paths_.data()) + list_[i].at, list_[i].size};
    pointers_[i] = &hint;
  }
  const sg_status status = sink->hints(sink, pointers_.data(), pointers_.size());
  list_.clear();
  paths_.clear();
  return status;
}

}  // namespace watcher_common
