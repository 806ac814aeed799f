#include "look.h"

#include <sandglass/plugin.h>

#include <ctime>

namespace {

int64_t ns(const timespec& t) {
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

}  // namespace

// Of a directory only what shows that names came or went.
Look Look::of(const struct stat& st) {
  if (S_ISDIR(st.st_mode)) return {st.st_ino, st.st_mode, 0, ns(st.st_mtim), ns(st.st_mtim)};
  return {st.st_ino, st.st_mode, st.st_size, ns(st.st_mtim), ns(st.st_ctim)};
}

int64_t tick_ns() {
  timespec tick{};
  ::clock_getres(CLOCK_REALTIME_COARSE, &tick);
  return ns(tick);
}

bool is_settled(const Look& look) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return ns(now) - look.ctime_ns >= tick_ns();
}
