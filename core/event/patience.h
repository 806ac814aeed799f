// How long a durable handler is offered an event that it does not take (rule H7).
#pragma once

#include <cstdint>
#include <optional>

namespace sandglass {

// Belongs to the handler's thread.
class Patience {
 public:
  static constexpr int64_t kLimitNs = 86'400'000'000'000;  // then the event is set aside
  static constexpr int64_t kFirstNs = 100'000'000, kLongestNs = 60'000'000'000;

  // Where an earlier process got stuck: the time it lost counts.
  Patience(uint64_t stuck_seq, int64_t since_ns) : seq_(stuck_seq), since_ns_(since_ns) {}

  // The event was refused once more. Nanoseconds to wait before it is offered again, doubled each
  // time and scattered by half, or nothing: it has been tried for a day. `now_ns` since 1970.
  std::optional<int64_t> refused(uint64_t seq, int64_t now_ns);
  void taken() { *this = Patience(0, 0); }

  uint64_t stuck_seq() const { return seq_; }  // 0: not stuck
  int64_t since_ns() const { return since_ns_; }
  int attempts() const { return attempts_; }  // refused in this process

 private:
  uint64_t seq_;
  int64_t since_ns_;
  int attempts_ = 0;
};

}  // namespace sandglass
