// Descriptors with one owner each. All are close-on-exec.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace sandglass {

// Owns a descriptor and closes it. Empty when -1. Not thread-safe; move it between threads.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) reset(std::exchange(other.fd_, -1));
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset(int fd = -1);

 private:
  int fd_ = -1;
};

struct Pipe {
  Fd read, write;
};
Result<Pipe> make_pipe();
Result<Fd> make_eventfd();
// Makes an eventfd readable. Any thread; async-signal-safe.
void signal_eventfd(int fd);

// Writes all of it, retrying on EINTR and short writes. Blocking descriptors only.
Status write_all(int fd, std::string_view bytes);

// poll(2) of one descriptor with EINTR retried. events is POLLIN or POLLOUT; timeout_ms < 0 waits
// for ever. True when ready (or hung up), false on the time limit.
bool wait_fd(int fd, short events, int timeout_ms);

}  // namespace sandglass
