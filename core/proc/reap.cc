#include "proc/reap.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "base/log.h"

namespace sandglass::proc {
namespace {

struct Lingering {
  std::mutex mutex;
  std::vector<Fd> added;  // not yet seen by the thread
  bool running = false;
  Fd wake;
};

// Never destroyed: its thread may be alive when the process exits.
Lingering& lingering() {
  static auto* all = new Lingering;
  return *all;
}

void reap_all() {
  ::prctl(PR_SET_NAME, "sandglass-reap");
  sigset_t every;  // the host's signals are for its own threads
  ::sigfillset(&every);
  ::pthread_sigmask(SIG_SETMASK, &every, nullptr);
  Lingering& all = lingering();
  std::vector<Fd> mine;
  for (;;) {
    std::vector<pollfd> fds;
    {
      const std::lock_guard lock(all.mutex);
      for (Fd& fd : all.added) mine.push_back(std::move(fd));
      all.added.clear();
      if (mine.empty()) {
        all.running = false;
        all.wake.reset();
        return;
      }
      fds.push_back({all.wake.get(), POLLIN, 0});
    }
    for (const Fd& fd : mine) fds.push_back({fd.get(), POLLIN, 0});
    ::poll(fds.data(), fds.size(), 60'000);
    if (fds[0].revents) {
      uint64_t count;
      [[maybe_unused]] ssize_t n = ::read(fds[0].fd, &count, sizeof count);
    }
    std::erase_if(mine, [](const Fd& fd) { return reap_within(fd, 0); });
  }
}

}  // namespace

bool reap_within(const Fd& pidfd, int timeout_ms) {
  if (!wait_fd(pidfd.get(), POLLIN, timeout_ms)) return false;
  siginfo_t info;
  // ECHILD, where somebody waits for every child of the process: it is reaped, which is what we
  // want.
  while (::waitid(static_cast<idtype_t>(P_PIDFD), static_cast<id_t>(pidfd.get()), &info, WEXITED) <
             0 &&
         errno == EINTR) {
  }
  return true;
}

void reap_later(Fd pidfd) {
  Lingering& all = lingering();
  const std::lock_guard lock(all.mutex);
  if (!all.wake) {
    if (auto fd = make_eventfd()) all.wake = std::move(*fd);
  }
  all.added.push_back(std::move(pidfd));
  if (all.running) {
    signal_eventfd(all.wake.get());
    return;
  }
  try {
    std::thread(reap_all).detach();
    all.running = true;
  } catch (const std::system_error& e) {
    log::warn(std::string("no thread to reap finished processes: ") + e.what());
  }
}

}  // namespace sandglass::proc
