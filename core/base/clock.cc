#include "base/clock.h"

#include <time.h>

#include <cstdio>
#include <ctime>

namespace sandglass {

static int64_t read_clock(clockid_t id) {
  timespec t;
  ::clock_gettime(id, &t);
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

int64_t mono_ns() {
  return read_clock(CLOCK_MONOTONIC);
}
int64_t wall_ns() {
  return read_clock(CLOCK_REALTIME);
}

std::string clock_time(int64_t wall) {
  time_t seconds = wall / 1'000'000'000;
  tm parts{};
  ::localtime_r(&seconds, &parts);
  char text[16];
  std::strftime(text, sizeof text, "%H:%M:%S", &parts);
  return text;
}

std::string iso_time(int64_t wall) {
  time_t seconds = wall / 1'000'000'000;
  tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[32], all[48];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(all, sizeof all, "%s.%03dZ", text, static_cast<int>(wall / 1'000'000 % 1000));
  return all;
}

}  // namespace sandglass
