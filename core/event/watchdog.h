// Looks after calls into plugins that overstay.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace sandglass {

// One thread that sleeps until the earliest moment it knows of. A call that begins while it sleeps
// towards an earlier moment costs one load, so handlers that are busy wake it once per time limit,
// and idle ones never.
class Watchdog {
 public:
  static constexpr int64_t kNever = INT64_MAX;
  // Looks at everything that is watched, given mono_ns(), and says when to look again, or kNever.
  // On the watchdog's thread.
  using Look = std::function<int64_t(int64_t now_ns)>;

  explicit Watchdog(Look look);
  ~Watchdog();  // joins; look is not running and will not run

  // Something must be looked at by then. Under the lock that look() takes for it, so that neither
  // can miss the other. Any thread.
  void expect(int64_t at_ns) {
    if (at_ns < next_look_.load(std::memory_order_acquire)) come_earlier(at_ns);
  }

 private:
  void come_earlier(int64_t at_ns);
  void run();

  const Look look_;
  std::mutex mutex_;  // all below; next_look_ is also read without
  std::condition_variable wake_;
  std::atomic<int64_t> next_look_{kNever};
  bool over_ = false;
  std::thread thread_;
};

}  // namespace sandglass
