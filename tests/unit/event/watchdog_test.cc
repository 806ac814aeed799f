#include "event/watchdog.h"

#include <gtest/gtest.h>

#include "base/clock.h"

namespace sandglass {
namespace {

constexpr int64_t kMs = 1'000'000;

// Counts looks, and lets a test wait for one.
struct Looks {
  std::mutex mutex;
  std::condition_variable changed;
  int count = 0;
  int64_t again = Watchdog::kNever;

  Watchdog::Look look() {
    return [this](int64_t) {
      std::lock_guard lock(mutex);
      count++;
      changed.notify_all();
      return std::exchange(again, Watchdog::kNever);
    };
  }
  bool wait_for(int wanted) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::seconds(10), [&] { return count >= wanted; });
  }
};

TEST(Watchdog, CallsThatBeginWhileItSleeps_DoNotWakeIt) {
  Looks looks;
  const int64_t first = mono_ns() + 100 * kMs;
  {
    Watchdog watchdog(looks.look());
    for (int i = 0; i < 100'000; i++) watchdog.expect(first + i);
    EXPECT_TRUE(looks.wait_for(1));
    EXPECT_GE(mono_ns(), first);
  }
  EXPECT_EQ(looks.count, 1);
}

TEST(Watchdog, AnEarlierMoment_IsKept) {
  Looks looks;
  Watchdog watchdog(looks.look());
  const int64_t before = mono_ns();
  watchdog.expect(before + 60'000 * kMs);
  watchdog.expect(before + 10 * kMs);
  EXPECT_TRUE(looks.wait_for(1));
  EXPECT_GE(mono_ns() - before, 10 * kMs);
}

TEST(Watchdog, LookAsksForAnother_GetsIt_ThenSleeps) {
  Looks looks;
  {
    looks.again = mono_ns() + 20 * kMs;
    const int64_t second = looks.again;
    Watchdog watchdog(looks.look());
    watchdog.expect(mono_ns());
    EXPECT_TRUE(looks.wait_for(2));
    EXPECT_GE(mono_ns(), second);
  }
  EXPECT_EQ(looks.count, 2);
}

TEST(Watchdog, Idle_NeverLooks) {
  Looks looks;
  { Watchdog watchdog(looks.look()); }
  EXPECT_EQ(looks.count, 0);
}

}  // namespace
}  // namespace sandglass
