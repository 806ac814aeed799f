#include "event/watchdog.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>

#include "base/clock.h"

namespace sandglass {

Watchdog::Watchdog(Look look) : look_(std::move(look)), thread_([this] { run(); }) {
  ::pthread_setname_np(thread_.native_handle(), "sg-watchdog");
}

Watchdog::~Watchdog() {
  {
    std::lock_guard lock(mutex_);
    over_ = true;
    wake_.notify_all();
  }
  thread_.join();
}

void Watchdog::come_earlier(int64_t at_ns) {
  std::lock_guard lock(mutex_);
  if (at_ns >= next_look_) return;
  next_look_ = at_ns;
  wake_.notify_all();
}

void Watchdog::run() {
  std::unique_lock lock(mutex_);
  while (!over_) {
    const int64_t now = mono_ns();
    if (next_look_ == kNever) {
      wake_.wait(lock);
    } else if (next_look_ > now) {
      wake_.wait_for(lock, std::chrono::nanoseconds(next_look_ - now));
    } else {
      // Said before looking: a call that begins behind look()'s back then comes here by itself.
      next_look_ = kNever;
      lock.unlock();
      const int64_t again = look_(now);
      lock.lock();
      next_look_ = std::min<int64_t>(next_look_, again);
    }
  }
}

}  // namespace sandglass
