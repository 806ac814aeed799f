#include "cli/signals.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/fd.h"

namespace sandglass::cli {
namespace {

sigset_t handled() {
  sigset_t set;
  sigemptyset(&set);
  for (int s : {SIGINT, SIGTERM, SIGHUP, SIGWINCH}) sigaddset(&set, s);
  return set;
}

void listen(int end_fd, const std::function<void(int)>& stop,
            const std::function<void()>& resized) {
  const sigset_t set = handled();
  Fd signals(::signalfd(-1, &set, SFD_CLOEXEC));
  for (bool stopping = false;;) {
    pollfd fds[] = {{signals.get(), POLLIN, 0}, {end_fd, POLLIN, 0}};
    if (::poll(fds, 2, -1) < 0) continue;
    if (fds[1].revents) return;
    signalfd_siginfo info;
    if (::read(signals.get(), &info, sizeof info) != sizeof info) continue;
    const int signal = static_cast<int>(info.ssi_signo);
    if (signal == SIGWINCH) {
      if (resized) resized();
      continue;
    }
    if (stopping) ::_exit(128 + signal);
    stopping = true;
    stop(signal);
  }
}

}  // namespace

void block_signals() {
  const sigset_t set = handled();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
}

StopSignals::StopSignals(std::function<void(int)> stop, std::function<void()> resized) {
  auto end = make_eventfd();
  if (!end) return;
  end_fd_ = end->release();
  thread_ = std::thread([fd = end_fd_, stop = std::move(stop), resized = std::move(resized)] {
    listen(fd, stop, resized);
  });
}

StopSignals::~StopSignals() {
  if (!thread_.joinable()) return;
  signal_eventfd(end_fd_);
  thread_.join();
  ::close(end_fd_);
}

}  // namespace sandglass::cli
