// One hook handler's thread: takes events from its cursor and calls the plugin with them.
#pragma once

#include <sandglass/plugin.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "event/delivered.h"
#include "event/dispatch.h"
#include "event/patience.h"
#include "event/watchdog.h"

namespace sandglass {

// Shared by its thread and the dispatcher, so that a thread stuck in a plugin can be left behind:
// it then touches nothing but the lane when it comes back. All public functions are for other
// threads.
class Lane : public std::enable_shared_from_this<Lane> {
 public:
  // The journal must outlive end(). Delivers what follows `after`.
  Lane(Handler handler, Journal& journal, uint64_t after, ContentSource content);

  // `expect` is Watchdog::expect. It is not called any more once end() has returned.
  void start(std::function<void(int64_t)> expect);

  const std::string& name() const { return handler_.name; }
  bool durable() const { return handler_.durable; }
  // Whether the handler asked for such events.
  bool wants(const Event& event) const;
  // The handler is done with all events up to this seq.
  uint64_t done() const { return done_; }
  // It was said that it gets no more events.
  bool given_up();
  // Waits for done() to reach `seq`. False at end_ns, when the handler is left behind or over, or
  // when it is durable and has refused an event for a while: what it has not got is kept for it.
  bool wait_done(uint64_t seq, int64_t end_ns);

  // Watchdog::Look for this lane: cancels a call past its limit, leaves it behind after the grace.
  int64_t look(int64_t now_ns);

  // Cancels the running call; no event is delivered any more. flush() gets what is left until
  // end_ns.
  void ask_to_stop(int64_t end_ns);
  // Joins, or leaves the thread behind at end_ns.
  void end(int64_t end_ns);

 private:
  using Views = std::span<const sg_event* const>;
  using Entry = std::function<sg_status(void* self, sg_call* call)>;
  struct Outcome {
    Status status;
    uint32_t fail_flags = 0;  // SG_FAIL_*
    bool overstayed = false;  // it was cancelled at its limit
    bool stopping = false;    // it was cancelled, or never made, because of ask_to_stop()
  };

  void run();
  void ask_interests();
  size_t matches(const Event& event) const;  // how many masks it matches
  void deliver(const std::vector<EventPtr>& events);
  size_t offer(Views views);  // how many the handler is done with
  size_t offer_batch(Views views);
  size_t offer_one(const sg_event* event);
  // How many of the one it failed on it is done with: that one is lost to a live handler.
  size_t after_failure(const char* what, const sg_event* event, const Outcome& outcome);
  void set_aside(const sg_event* event, const std::string& why);
  void end_of_refusals(const sg_event* event);
  void wait_to_retry();
  void keep_place();
  void flush();
  // One call of the plugin, with its limits. `event` is what it is about, or null.
  Outcome call(const char* what, const sg_event* event, const Entry& entry);
  bool set_limits(bool is_flush);  // under mutex_; false: no call may begin
  void say_offered(Views views) const;
  void say_failed(const char* what, const sg_event* event, const Outcome& outcome,
                  const char* and_then = "") const;
  void advance(uint64_t done);
  bool over() const { return over_; }
  // Said first, so that who learns of it finds it in the log. Under mutex_.
  void leave_behind(const std::string& why);

  const Handler handler_;
  Journal& journal_;  // not touched any more once the lane is left behind
  const Origin origin_;
  const sg_hook hook_;
  const std::unique_ptr<Cursor> cursor_;
  const std::shared_ptr<ContentDesk> desk_;
  std::function<void(int64_t)> expect_;
  std::atomic<uint64_t> interests_{SG_EV_ALL};
  std::atomic<uint64_t> done_;
  std::atomic<bool> over_{false};  // asked to stop, or left behind
  std::atomic<int> drains_{0};     // who waits for done_
  int singles_ = 0;                // events to deliver one by one, since content was short of room
  Patience patience_;
  int64_t kept_at_ = 0;  // mono_ns() when the place was kept last

  std::mutex mutex_;  // all below
  std::condition_variable progress_;
  plugin::Call* call_ = nullptr;
  const char* call_what_ = "";
  const sg_event* call_event_ = nullptr;  // alive as long as call_
  int64_t cancel_at_ = 0;
  int64_t give_up_at_ = 0;
  int64_t stop_end_ = 0;  // 0: not asked to stop
  int64_t retry_at_ = 0;  // of an event that was refused; 0: there is none
  int64_t stuck_at_ = 0;  // mono_ns() when it was refused first
  bool left_behind_ = false, ended_ = false;
  std::thread thread_;
};

}  // namespace sandglass
