// Stands between a watcher and the judge: the sink that the watcher calls, the lock, and the thread
// for what has a time of its own (held files, subtrees the watcher cannot see, a consumer that was
// behind).
//
// Hints are judged on the watcher's thread, inline, so that an event reaches the sink without a
// thread switch. The sink is called under the lock, in order.
#pragma once

#include <sandglass/plugin.h>

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "base/result.h"
#include "watch/change.h"
#include "watch/judge.h"
#include "watch/target.h"

namespace sandglass::watch {

class Feed {
 public:
  // `lists`: the watcher tells what is there (SG_TYPE_LISTS), and nothing is looked at from here.
  Feed(const Target& target, Sink sink, bool lists = false);
  ~Feed();  // close()
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;

  // For the watcher's run(). Valid as long as the feed.
  sg_watch_sink* abi() { return &abi_; }
  // run() returned. A tree that we can see is polled from now on.
  void ended(const Status& why);

  // Until the watcher is ready and the tree was read, or it ended, or the time is over.
  Status wait_ready(int64_t deadline_ns);
  // Until a hint or a listing names `path`, which is never reported. Call expect() before the path
  // is touched.
  void expect(std::string path);
  bool wait_expected(int64_t deadline_ns);
  // From now on the sink is called; what came before is in the tree.
  void go_live();

  void set_backlogged(std::function<bool()> backlogged);
  void release_held();
  void audit();  // release_held(), then compares everything
  void close();  // nothing reaches the sink afterwards; hints get SG_E_CANCELLED

  struct Numbers {
    size_t files = 0, dirs = 0, held = 0, blind = 0, rescans = 0;
    bool root_there = true;
  };
  Numbers numbers() const;
  std::string watcher_state() const;  // the JSON it told last, or empty

 private:
  struct Abi : sg_watch_sink {
    Feed* feed;
  };
  struct Calls;  // the C functions

  void on_ready();
  sg_status on_hints(const sg_hint* const* hints, size_t count);
  sg_status on_listings(const sg_listing* const* listings, size_t count);
  void on_state(sg_str json);

  void met(std::string_view path);
  void owe();
  bool special(const sg_hint& hint, std::string_view path, bool& lost);
  bool behind();
  void deliver(std::vector<FileChange> batch);
  void rescan();
  void see_again(std::string_view path);
  int64_t next_wake() const;
  void wake_if_earlier();
  void work();
  void poll_blind(int64_t now_ns);

  Abi abi_;
  const Sink sink_;
  const int64_t interval_ns_;

  mutable std::mutex mutex_;
  std::condition_variable told_;  // for those who wait for the watcher
  std::condition_variable work_;  // for the thread
  Judge judge_;
  Status end_;
  bool ended_ = false;
  bool ready_ = false;
  bool live_ = false;
  bool closed_ = false;
  std::string expected_;  // the canary
  bool expected_came_ = false;
  std::function<bool()> backlogged_;
  bool behind_ = false;
  std::map<std::string, bool, std::less<>> blind_;  // subtrees to poll
  int64_t poll_at_ = kNever;
  int64_t wake_at_ = kNever;  // when the thread wakes by itself
  size_t rescans_ = 0;
  std::string watcher_state_;
  std::vector<Hint> hints_;
  std::vector<std::string> owed_;  // facts that came while the consumer was behind
  std::thread thread_;
};

}  // namespace sandglass::watch
