// One run of the watcher: reads the kernel's queue, turns events into hints.
#pragma once

#include <sandglass/plugin.h>

#include <mutex>
#include <string>
#include <vector>

#include "../common/hints.h"
#include "watches.h"

struct inotify_event;

namespace inotify_watcher {

using watcher_common::Hints;

class Run {
 public:
  // All must outlive it. run() belongs to one thread.
  Run(const sg_host* host, sg_call* call, const sg_watch_target* target, sg_watch_sink* sink);

  sg_status run();
  // From any thread, while run() has not returned: waits until everything that the kernel queued
  // before is in the sink.
  sg_status flush(sg_call* call);

 private:
  sg_status fail(sg_status status, const std::string& text);
  std::string start();
  sg_status loop();
  sg_status drain();
  int timeout_ms(uint64_t now_ns);
  void answer_flushes();

  void on_event(const inotify_event& event);
  void on_directory(Node* dir, std::string_view name, uint32_t mask);
  void on_name(Node* dir, std::string_view name, uint32_t kind, uint32_t flags);
  void tell(uint32_t kind, const Node* dir);

  // root.cc
  bool watch_above();
  void check_root();
  void say_foreign();
  void say_exhausted();
  void say_state(const char* mode, const std::string& reason);

  const sg_host* host_;
  sg_call* call_;
  sg_watch_sink* sink_;
  std::string root_;   // absolute, without links
  std::string above_;  // the directory that holds it; empty for "/"
  std::string name_;   // its name there
  std::vector<std::string> ignore_;

  Fd inotify_;
  Fd wake_;
  int above_wd_ = -1;
  Hints hints_;
  Watches watches_;
  bool lost_ = false;
  bool root_doubted_ = false;
  bool exhausted_ = false;  // said already
  size_t foreign_said_ = 0;
  uint64_t renew_ns_ = 0;        // when to begin anew after a shortage, 0 never
  uint64_t root_retry_ns_ = 0;   // when to look for the root again, 0 never
  uint64_t blind_retry_ns_ = 0;  // when to try again for watches, 0 never
  uint64_t blind_pause_ns_ = 0;
  uint64_t limbo_ns_ = 0;
  std::vector<char> buffer_;

  std::mutex mutex_;
  std::vector<int> waiting_;  // eventfds of flush()
  bool over_ = false;
};

}  // namespace inotify_watcher
