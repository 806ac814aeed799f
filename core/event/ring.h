// The head of a journal in memory: its newest events, and the place where readers wait for more.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

#include "event/event.h"

namespace sandglass {

// The journal's writer publishes, any number of threads read. Outlives the journal where a reader
// still holds it.
class Ring {
 public:
  // `last` is the seq of the newest event of the file.
  Ring(size_t size, uint64_t last);

  // Events that are in the file now, seq by seq. Leaves in `group` what they displaced, so that the
  // caller frees it outside the lock. One wake for the whole group, and none when nobody waits.
  void publish(std::vector<EventPtr>& group);
  void close();  // nobody waits any more
  uint64_t last() const { return last_.load(std::memory_order_acquire); }

  // What one reader is woken by. Under the ring's lock.
  struct Bell {
    bool rung = false;
  };
  void wake(Bell& bell);

  enum class Got {
    events,   // up to `max` of them were added to `out`
    behind,   // there are some, but they left the ring: read rows
    nothing,  // the time limit, wake(), or closed
  };
  // What follows `after`. Waits up to timeout_ms (-1: for ever) for the first.
  Got next(uint64_t after, size_t max, int timeout_ms, Bell& bell, std::vector<EventPtr>& out);
  // Waits for the time to pass, wake() or close().
  void pause(int timeout_ms, Bell& bell);

 private:
  template <class Ready>
  void wait(std::unique_lock<std::mutex>& lock, int timeout_ms, Ready ready);

  std::mutex mutex_;  // all below; last_ is also read without
  std::condition_variable news_;
  std::vector<EventPtr> slots_;  // an event lies at seq % size
  std::atomic<uint64_t> last_;
  uint64_t first_;  // oldest seq held; last_ + 1 when there is none
  int waiting_ = 0;
  bool closed_ = false;
};

}  // namespace sandglass
