// One watcher of one sandbox: runs the watcher plugin on a thread of its own, feeds what it tells to
// the judge (tree.h), and hands on what the judge decides.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "plugin/instance.h"

namespace sandglass::watch {

enum class ChangeKind : uint32_t { create = 0, change = 1, remove = 2, rescan = 3 };

struct FileChange {
  ChangeKind kind = ChangeKind::change;
  uint32_t flags = 0;   // event_symlink, event_meta_only
  std::string path;     // bytes, below the root; empty for rescan
  int64_t seen_ns = 0;  // mono_ns() when the kernel told of the last hint folded into it
  int32_t pid = 0;      // of the writer, or 0
};

struct Target {
  std::string sandbox_id;
  std::string root = "/workspace";  // inside the sandbox
  std::string local_root;           // on this machine
  std::vector<std::string> ignore = {".git", "node_modules"};  // names of directories
  int interval_ms = 700;
};

// Called with one batch at a time, in order, deletes first. On the watcher's or the session's thread;
// must not block and must not call back into the session.
using Sink = std::function<void(std::vector<FileChange> batch)>;

class Session {
 public:
  // Returns once the tree has been seen and every later change will be reported.
  static Result<std::unique_ptr<Session>> start(std::shared_ptr<plugin::Instance> watcher, Target target,
                                                Sink sink, int timeout_ms);
  virtual ~Session() = default;  // stop()

  // Every change made before the call has reached the sink when it returns (W8).
  virtual Status flush(int timeout_ms) = 0;
  // flush(), then compares the whole tree with the disk: finds what no kernel event tells (a store
  // through a mapping, rule 17).
  virtual Status audit(int timeout_ms) = 0;
  // While true the sink's consumer is behind: hints are folded into one rescan until it is false again.
  virtual void set_backlogged(std::function<bool()> backlogged) = 0;
  // Delivers what is known, then stops. Nothing is delivered after it returns.
  virtual Status stop(int timeout_ms) = 0;
  // {"watcher","mode","reason","watches","files",...}: for `status`.
  virtual std::string state_json() const = 0;
};

}  // namespace sandglass::watch
