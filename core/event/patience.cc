#include "event/patience.h"

#include <algorithm>
#include <random>

namespace sandglass {

std::optional<int64_t> Patience::refused(uint64_t seq, int64_t now_ns) {
  if (seq != seq_) *this = Patience(seq, now_ns);
  if (now_ns - since_ns_ >= kLimitNs) return std::nullopt;
  const int doublings = std::min(attempts_++, 20);
  const int64_t wait = std::min(kFirstNs << doublings, kLongestNs);
  static thread_local std::minstd_rand random{std::random_device{}()};
  return std::uniform_int_distribution<int64_t>(wait / 2, wait + wait / 2)(random);
}

}  // namespace sandglass
