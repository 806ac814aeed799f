// What the watch folder hands on: one fact about one path.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace sandglass::watch {

enum class ChangeKind : uint32_t { create = 0, change = 1, remove = 2, rescan = 3 };

struct FileChange {
  ChangeKind kind = ChangeKind::change;
  uint32_t flags = 0;   // event_symlink, event_meta_only
  std::string path;     // bytes, below the root; empty for rescan
  int64_t seen_ns = 0;  // mono_ns() when the kernel told of the last hint folded into it
  int32_t pid = 0;      // of the writer, or 0
};

// Called with one batch at a time, in order, deletes first. On the watcher's or the session's
// thread; must not block and must not call back into the session.
using Sink = std::function<void(std::vector<FileChange> batch)>;

}  // namespace sandglass::watch
