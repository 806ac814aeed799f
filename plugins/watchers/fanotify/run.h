// One sandbox in a group: what it is watched for, and how its hints get to the host.
//
// What is below "the group's" belongs to the group, under its lock. Hints are handed over by the
// group's reader itself while this is the only sandbox (so that an event reaches the host without a
// thread switch); with several, each is handed its hints by its own run(), so that a slow one holds
// up nobody else.
#pragma once

#include <sandglass/plugin.h>

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "../common/hints.h"
#include "dirs.h"
#include "handle.h"

namespace fanotify_watcher {

using watcher_common::Hints;

class Group;

class Run {
 public:
  using Answer = std::shared_ptr<Fd>;  // an eventfd, written to when the flush is over

  // All must outlive it.
  Run(const sg_host* host, sg_call* call, const sg_watch_target* target, sg_watch_sink* sink);

  sg_status run();
  // From any thread, while run() has not returned: waits until everything that the kernel queued
  // before is in the sink.
  sg_status flush(sg_call* call);

  // For the group's reader. Empties `hints`; `answers` are given once those are in the sink.
  void hand_over(Hints& hints, std::vector<Answer> answers, bool alone);
  void fail_with(const std::string& why);  // the group ended
  uint64_t now_ns() const { return host_->now_ns(host_); }
  bool ignored(std::string_view name) const;
  void say_state(const char* mode, const char* reason, size_t sandboxes);

  // ---- The group's ----------------------------------------------------------
  std::string root_path;   // absolute, without links
  std::string above_path;  // the directory that holds it; empty for "/"
  std::string name;        // its name there
  Fd root_fd;
  Node* root = nullptr;   // null while it is gone
  Node* above = nullptr;  // null where it cannot be known
  size_t dirs = 0;        // nodes of this tree
  size_t blind = 0;       // directories that could not be watched, ever
  Hints hints;            // of the present batch
  bool starting = true;   // being read for the first time: nothing but that changes the tree
  bool lost = false;
  bool root_doubted = false;
  uint64_t root_retry_ns = 0;  // when to look for the root again, 0 never
  uint64_t renew_ns = 0;       // when to read the tree anew after a shortage, 0 never
  // Names of directories whose events leave open what is there now.
  struct Doubt {
    Node* dir;
    std::string name;
    int32_t pid;
  };
  std::vector<Doubt> doubts;
  // Displaced, until the batch is over: a rename may put them somewhere.
  std::vector<std::unique_ptr<Node>> displaced;

 private:
  sg_status fail(sg_status status, const std::string& text);
  std::string resolve_root();
  sg_status wait();
  void leave(Group& group);
  void deliver(std::unique_lock<std::mutex>& lock, Hints& hints);
  void give(std::vector<Answer> answers);

  const sg_host* host_;
  sg_call* call_;
  sg_watch_sink* sink_;
  std::vector<std::string> ignore_;
  std::shared_ptr<Group> group_;  // from run()'s start to its end
  Fd wake_;

  std::mutex mutex_;
  Hints pending_, sending_;
  std::vector<Answer> to_answer_;  // after pending_
  std::vector<Answer> waiting_;    // all that flush() waits for
  bool delivering_ = false;
  bool over_ = false;
  sg_status ended_ = SG_OK;  // what the sink said when it wanted no more
  std::string failure_;
};

}  // namespace fanotify_watcher
