#include "proc/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/fd.h"
#include "base/text.h"
#include "proc/keeper.h"
#include "proc/reap.h"
#include "proc/spawn.h"
#include "proc/stream.h"
#include "proc/tree.h"

namespace sandglass::proc {
namespace {

// Commands that run now, by owner and tag.
class Running {
 public:
  struct Command {
    int pid;
    Fd pidfd;
    Fd terminal;  // the master, or empty
  };
  using Key = std::pair<uint64_t, std::string>;
  using Map = std::multimap<Key, Command>;

  void add(const Spawn& what, int pid, int pidfd, const Fd& terminal, const void* call) {
    Command command{pid, Fd(::fcntl(pidfd, F_DUPFD_CLOEXEC, 3)), Fd()};
    if (what.tty) command.terminal = Fd(::fcntl(terminal.get(), F_DUPFD_CLOEXEC, 3));
    const std::lock_guard lock(mutex_);
    calls_[call] = commands_.emplace(Key{what.owner, what.tag}, std::move(command));
  }
  void remove(const void* call) {
    const std::lock_guard lock(mutex_);
    if (auto it = calls_.find(call); it != calls_.end()) {
      commands_.erase(it->second);
      calls_.erase(it);
    }
  }
  // Does `act` to each command; the first failure ends it.
  template <class Act>
  Status each(uint64_t owner, std::string_view tag, Act act) {
    const std::lock_guard lock(mutex_);
    const auto [first, last] = commands_.equal_range(Key{owner, std::string(tag)});
    if (first == last)
      return fail(Fault::not_found, "no command with the tag " + shown(tag) + " runs");
    for (auto it = first; it != last; ++it)
      if (Status done = act(it->second); !done) return done;
    return {};
  }

 private:
  std::mutex mutex_;
  Map commands_;
  std::map<const void*, Map::iterator> calls_;
};

Running& running() {
  static auto* all = new Running;  // signals may be sent while the process exits
  return *all;
}

// Writing to a child that does not read must not end the host: SIGPIPE stays blocked on this
// thread, and what is pending at the end is taken away.
class NoSigpipe {
 public:
  NoSigpipe() {
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoSigpipe() {
    const timespec now{};
    while (!was_pending_ && ::sigtimedwait(&pipe_, nullptr, &now) < 0 && errno == EINTR) {
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoSigpipe(const NoSigpipe&) = delete;
  NoSigpipe& operator=(const NoSigpipe&) = delete;

 private:
  sigset_t pipe_, before_;
  bool was_pending_;
};

Status may_start(const Spawn& what, const Limits& limits) {
  const std::string name = what.argv.empty() ? "the command" : shown(what.argv[0]);
  if (limits.cancel_fd >= 0 && wait_fd(limits.cancel_fd, POLLIN, 0)) {
    return fail(Fault::cancelled, name + " was cancelled before it started");
  }
  if (limits.deadline_ns > 0 && mono_ns() >= limits.deadline_ns) {
    return fail(Fault::timeout, name + " was not started: its time limit had passed already");
  }
  return {};
}

void let_go(Child& child, bool empty) {
  ::send(child.control.get(), &kRelease, 1, MSG_NOSIGNAL);
  child.control.reset();
  child.out.reset();
  child.err.reset();
  child.in.reset();
  if (!reap_within(child.keeper, empty ? 1000 : 0)) return reap_later(std::move(child.keeper));
  child.group.remove();  // the keeper did, unless it was killed or members made groups inside
}

}  // namespace

Result<Exit> run(const Spawn& what, Io& io, const Limits& limits) {
  if (Status ok = may_start(what, limits); !ok) return tl::unexpected(ok.error());
  const NoSigpipe guard;
  auto child = spawn(what);
  if (!child) return tl::unexpected(child.error());
  io.cgroup_id = child->group.id();

  Stream stream(what, io, limits, *child,
                {[&](int pid, int pidfd) { running().add(what, pid, pidfd, child->out, &stream); },
                 [&] { running().remove(&stream); }});
  auto result = stream.run();
  running().remove(&stream);
  if (result && !stream.empty_at_end()) {
    result->survivors =
        static_cast<uint32_t>(members_of(child->keeper_pid, child->group, child->mark).size());
  }
  let_go(*child, stream.empty_at_end());
  return result;
}

Status signal_tagged(uint64_t owner, std::string_view tag, int signo) {
  return running().each(owner, tag, [&](const Running::Command& command) -> Status {
    // The pidfd proves that the number is still the command's, and so its group's.
    if (::syscall(SYS_pidfd_send_signal, command.pidfd.get(), 0, nullptr, 0) < 0) return {};
    if (::kill(-command.pid, signo) == 0 || errno == ESRCH) return {};
    return fail_errno(errno, "cannot signal the command with the tag " + shown(tag));
  });
}

Status resize_tagged(uint64_t owner, std::string_view tag, uint32_t rows, uint32_t columns) {
  constexpr uint32_t kMost = 0xffff;
  const winsize size{static_cast<unsigned short>(std::min(rows, kMost)),
                     static_cast<unsigned short>(std::min(columns, kMost)), 0, 0};
  return running().each(owner, tag, [&](const Running::Command& command) -> Status {
    if (!command.terminal)
      return fail(Fault::invalid, "the command with the tag " + shown(tag) + " has no terminal");
    if (::ioctl(command.terminal.get(), TIOCSWINSZ, &size) == 0) return {};
    return fail_errno(errno, "cannot resize the terminal of the tag " + shown(tag));
  });
}

}  // namespace sandglass::proc
