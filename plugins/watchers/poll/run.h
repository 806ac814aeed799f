// One watched tree: looks at it again and again, and tells what each look found.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "find.h"
#include "look.h"
#include "recent.h"

namespace poll {

class Fd {
 public:
  Fd();  // an eventfd; throws where none can be had
  ~Fd();
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  int get() const { return fd_; }
  void signal() const;
  void quiet() const;

 private:
  int fd_;
};

class Run {
 public:
  Run(sandglass::Host host, sandglass::WatchTarget target, sandglass::WatchSink sink);

  // Until the call is cancelled. Looks never overlap: one thread makes them all.
  void run(sandglass::Call call);
  // Returns after a whole look that began after the call. Any thread, while run() has not returned.
  void flush(sandglass::Call call);

 private:
  struct Waiter {
    Fd done;
    std::string why;  // it failed; empty when it did not
  };
  using Waiters = std::vector<std::shared_ptr<Waiter>>;

  Waiters waiters();
  void answer(const Waiters& waiters, const std::string& why);
  void end();
  bool look(sandglass::Call call);
  std::optional<Said> ask(sandglass::Call call);
  void look_once(sandglass::Call call);
  void tell(const Look& look);
  void tell_gone();
  void tell_written(const std::vector<std::string>& paths);
  void failed(const std::string& why);
  void say_state(const char* mode, const std::string& reason);
  int rest_ms() const;

  const sandglass::Host host_;
  const sandglass::WatchSink sink_;
  const std::string local_root_;
  const uint64_t interval_ns_;
  const std::vector<std::string> ignore_;
  const Box box_;
  std::optional<Find> find_;
  Recent recent_;
  uint64_t ended_ns_ = 0, took_ns_ = 0;  // of the last look
  int failures_ = 0;                     // in a row
  bool gone_ = false;
  std::string why_;  // the last look failed

  const Fd wake_;
  std::mutex mutex_;
  Waiters waiting_;
  bool over_ = false;
};

}  // namespace poll
