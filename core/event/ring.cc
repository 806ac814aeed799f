#include "event/ring.h"

#include <algorithm>
#include <chrono>

namespace sandglass {

Ring::Ring(size_t size, uint64_t last)
    : slots_(std::max<size_t>(size, 1)), last_(last), first_(last + 1) {}

void Ring::publish(std::vector<EventPtr>& group) {
  if (group.empty()) return;
  const uint64_t last = group.back()->seq;
  std::unique_lock lock(mutex_);
  for (EventPtr& event : group) std::swap(slots_[event->seq % slots_.size()], event);
  last_.store(last, std::memory_order_release);
  if (last >= first_ + slots_.size()) first_ = last - slots_.size() + 1;
  const bool wake = waiting_ > 0;
  lock.unlock();
  if (wake) news_.notify_all();
}

void Ring::close() {
  std::lock_guard lock(mutex_);
  closed_ = true;
  news_.notify_all();
}

void Ring::wake(Bell& bell) {
  std::lock_guard lock(mutex_);
  bell.rung = true;
  news_.notify_all();
}

template <class Ready>
void Ring::wait(std::unique_lock<std::mutex>& lock, int timeout_ms, Ready ready) {
  if (ready() || timeout_ms == 0) return;
  waiting_++;
  if (timeout_ms < 0)
    news_.wait(lock, ready);
  else
    news_.wait_for(lock, std::chrono::milliseconds(timeout_ms), ready);
  waiting_--;
}

Ring::Got Ring::next(uint64_t after, size_t max, int timeout_ms, Bell& bell,
                     std::vector<EventPtr>& out) {
  std::unique_lock lock(mutex_);
  wait(lock, timeout_ms, [&] { return last() > after || bell.rung || closed_; });
  bell.rung = false;
  if (last() <= after) return Got::nothing;
  if (after + 1 < first_) return Got::behind;
  const uint64_t until = std::min(last(), max < UINT64_MAX - after ? after + max : UINT64_MAX);
  out.reserve(out.size() + (until - after));
  for (uint64_t seq = after + 1; seq <= until; seq++) out.push_back(slots_[seq % slots_.size()]);
  return Got::events;
}

void Ring::pause(int timeout_ms, Bell& bell) {
  std::unique_lock lock(mutex_);
  wait(lock, timeout_ms, [&] { return bell.rung || closed_; });
  bell.rung = false;
}

}  // namespace sandglass
