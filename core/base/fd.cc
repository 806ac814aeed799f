#include "base/fd.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>

#include "base/clock.h"

namespace sandglass {

void Fd::reset(int fd) {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

Result<Pipe> make_pipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) < 0) return fail_errno(errno, "cannot make a pipe");
  return Pipe{Fd(fds[0]), Fd(fds[1])};
}

Result<Fd> make_eventfd() {
  int fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd < 0) return fail_errno(errno, "cannot make an eventfd");
  return Fd(fd);
}

void signal_eventfd(int fd) {
  const uint64_t one = 1;
  [[maybe_unused]] ssize_t n = ::write(fd, &one, sizeof one);
}

Status write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0) {
      if (errno == EINTR) continue;
      return fail_errno(errno, "cannot write");
    }
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

bool wait_fd(int fd, short events, int timeout_ms) {
  const int64_t end = mono_ns() + int64_t{timeout_ms} * 1'000'000;
  for (;;) {
    pollfd p{fd, events, 0};
    int r = ::poll(&p, 1, timeout_ms);
    if (r > 0) return true;
    if (r == 0) return false;
    if (errno != EINTR) return true;
    if (timeout_ms >= 0) {
      int64_t left = (end - mono_ns()) / 1'000'000;
      if (left <= 0) return false;
      timeout_ms = static_cast<int>(left);
    }
  }
}

}  // namespace sandglass
