#include "look.h"

#include <fcntl.h>
#include <unistd.h>

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

int64_t tick_now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return ns(now);
}

bool is_settled(const Look& look, int64_t began_ns) {
  return began_ns - look.ctime_ns >= tick_ns();
}

uint64_t hash_of(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  struct stat st {};
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  char part[16384];
  ssize_t n = fd >= 0 && ::fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? 1 : 0;
  while (n > 0 && (n = ::read(fd, part, sizeof part)) > 0)
    for (ssize_t i = 0; i < n; i++)
      hash = (hash ^ static_cast<unsigned char>(part[i])) * 0x100000001b3;
  if (fd >= 0) ::close(fd);
  return hash;
}
