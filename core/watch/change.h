// What the watch folder hands on: one fact about one path.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace sandglass::watch {

enum class ChangeKind : uint32_t { create = 0, change = 1, remove = 2, rescan = 3 };

// The processes that took part in one change, as the kernel told: the first kMost that differ, then
// only that there were more. Empty where nobody could tell.
struct Writers {
  static constexpr size_t kMost = 8;
  std::array<int32_t, kMost> pids{};
  uint8_t count = 0;
  bool more = false;

  Writers() = default;
  Writers(int32_t pid) { add(pid); }  // 0 is nobody
  bool empty() const { return count == 0; }
  int32_t last() const { return count ? pids[count - 1u] : 0; }
  void add(int32_t pid) {
    if (pid <= 0 || std::find(pids.begin(), pids.begin() + count, pid) != pids.begin() + count)
      return;
    if (count < kMost)
      pids[count++] = pid;
    else
      more = true;
  }
  void add(const Writers& other) {
    for (size_t i = 0; i < other.count; ++i) add(other.pids[i]);
    more |= other.more;
  }
};

struct FileChange {
  ChangeKind kind = ChangeKind::change;
  uint32_t flags = 0;   // event_symlink, event_meta_only
  std::string path;     // bytes, below the root; empty for rescan
  int64_t seen_ns = 0;  // mono_ns() when the kernel told of the last hint folded into it
  Writers writers;
};

// Called with one batch at a time, in order, deletes first. On the watcher's or the session's
// thread; must not block and must not call back into the session.
using Sink = std::function<void(std::vector<FileChange> batch)>;

}  // namespace sandglass::watch
