// The hints of one batch, kept flat until they are handed to the host. One thread at a time.
#pragma once

#include <sandglass/plugin.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace watcher_common {

class Hints {
 public:
  void stamp(uint64_t seen_ns) { seen_ns_ = seen_ns; }
  // `name` below `dir` (both may be empty). Folded into the last hint where that names the same and
  // was caused by the same process.
  void add(uint32_t kind, uint32_t flags, std::string_view dir, std::string_view name,
           int32_t pid = 0);
  // LOST takes the place of all that only said where to look.
  void lose_all();
  // What another one holds, behind what is here; that is empty afterwards.
  void take(Hints& other);
  bool empty() const { return list_.empty(); }
  size_t size() const { return list_.size(); }
  // Hands over what there is and begins anew.
  sg_status send(sg_watch_sink* sink);

 private:
  struct Item {
    uint32_t kind, flags;
    int32_t pid;
    uint64_t seen_ns;
    size_t at, size;
  };
  std::string_view path(const Item& item) const {
    return std::string_view(paths_).substr(item.at, item.size);
  }

  uint64_t seen_ns_ = 0;
  std::string paths_;
  std::vector<Item> list_;
  std::vector<sg_hint> hints_;
  std::vector<const sg_hint*> pointers_;
};

}  // namespace watcher_common
