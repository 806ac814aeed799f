#include "proc/stream.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/clock.h"
#include "base/text.h"
#include "proc/tree.h"

namespace sandglass::proc {
namespace {

constexpr size_t kRead = 65536;
constexpr int64_t kMs = 1'000'000;
constexpr int64_t kDrain = 200 * kMs;    // for background children that keep the pipe open
constexpr int64_t kGrace = 500 * kMs;    // between TERM and KILL
constexpr int kSoonDead = 2;             // rounds of KILL that end what does not fork
constexpr int64_t kAgain = 100 * kMs;    // between two rounds of KILL
constexpr int64_t kGiveUp = 2800 * kMs;  // a process in an uninterruptible wait cannot be ended

}  // namespace

Stream::Stream(const Spawn& what, Io& io, const Limits& limits, Child& child, Watch watch)
    : what_(what),
      io_(io),
      limits_(limits),
      child_(child),
      watch_(std::move(watch)),
      buffer_(kRead),
      out_{1, &child.out},
      err_{2, &child.err},
      input_ended_(!what.with_input) {}

Result<Exit> Stream::run() {
  while (!done()) {
    wait();
    read_notes();
    check_limits();
    read_output(out_);
    read_output(err_);
    feed();
  }
  return outcome();
}

bool Stream::done() {
  const int64_t now = mono_ns();
  if (fault_ && !ending_) return true;
  if (ending_) return now >= give_up_at_ || (all_gone() && output_done(now));
  return ended_ && output_done(now);
}

void Stream::wait() {
  const bool feeding = !input_ended_ && pid_known_ && !exit_ && !ending_;
  const bool pending = input_at_ < input_.size();
  const bool ask = feeding && !pending && io_.input_fd >= 0;
  const bool push = child_.in && (pending || (feeding && io_.input_fd < 0));
  pollfd fds[] = {{keeper_gone_ ? -1 : child_.control.get(), POLLIN, 0},
                  {ending_ || exit_ ? -1 : limits_.cancel_fd, POLLIN, 0},
                  {child_.out.get(), POLLIN, 0},
                  {child_.err.get(), POLLIN, 0},
                  {child_.in.get(), static_cast<short>(push ? POLLOUT : 0), 0},
                  {ask ? io_.input_fd : -1, POLLIN, 0}};
  const bool any = ::poll(fds, std::size(fds), milliseconds_to_next()) > 0;
  cancel_ready_ = any && fds[1].revents;
  out_.readable = any && fds[2].revents;
  err_.readable = any && fds[3].revents;
  child_takes_ = any && (fds[4].revents & POLLOUT);
  input_ready_ = any && fds[5].revents;
  // Nobody reads the child's stdin any more.
  if (any && (fds[4].revents & (POLLERR | POLLHUP))) {
    child_.in.reset();
    input_ended_ = true;
    input_.clear();
    input_at_ = 0;
  }
}

int Stream::milliseconds_to_next() const {
  int64_t next = 60'000 * kMs;
  const int64_t now = mono_ns();
  const auto consider = [&](int64_t at) {
    if (at > 0) next = std::min(next, at - now);
  };
  if (ending_) {
    consider(kill_at_);
    consider(give_up_at_);
  } else if (!exit_) {
    consider(limits_.deadline_ns);
  }
  consider(drain_until_);
  return static_cast<int>(std::max<int64_t>(0, (next + kMs - 1) / kMs));
}

// ---- notes ----

void Stream::read_notes() {
  while (!keeper_gone_) {
    Note note{};
    iovec iov{&note, sizeof note};
    alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))];
    msghdr message{};
    message.msg_iov = &iov;
    message.msg_iovlen = 1;
    message.msg_control = room;
    message.msg_controllen = sizeof room;
    const ssize_t n = ::recvmsg(child_.control.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    Fd pidfd;
    if (const cmsghdr* header = n > 0 ? CMSG_FIRSTHDR(&message) : nullptr) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
      pidfd = Fd(fd);
    }
    if (n == static_cast<ssize_t>(sizeof note)) {
      take(note, std::move(pidfd));
      continue;
    }
    keeper_gone_ = true;
    if (exit_ || fault_) return;
    fault_ =
        Error{Fault::lost, "lost " + shown(what_.argv[0]) +
                               ": the process that watched over it was killed; what it started was "
                               "ended, run it again"};
    if (!ending_) begin_end(Fault::lost);
  }
}

void Stream::take(const Note& note, Fd pidfd) {
  switch (note.word) {
    case Word::ready:
      pid_known_ = true;
      if (ending_) return;
      watch_.running(note.a, pidfd.get());
      if (io_.started) io_.started(note.a, pidfd.get());
      return open_gate();
    case Word::no_cwd:
      exit_ = Exit{Ended::bad_cwd, note.a};
      return;
    case Word::no_exec:
      exit_ = Exit{Ended::not_found, note.a};
      return;
    case Word::no_fork:
      fault_ = fail_errno(note.a, "cannot start a process for " + shown(what_.argv[0])).value();
      return;
    case Word::exited:
      return command_ended(note);
    case Word::idle:
      idle_ = true;
      return;
  }
}

// The last look before the command's first instruction: a cancelled call never runs.
void Stream::open_gate() {
  check_limits();
  if (!ending_) [[maybe_unused]]
    ssize_t n = ::write(child_.gate.get(), "g", 1);
  child_.gate.reset();
}

void Stream::command_ended(const Note& note) {
  ended_ = true;
  idle_ = note.c != 0;
  watch_.ended();
  if (!exit_) {
    exit_ = Exit{};
    exit_->how = note.a == CLD_EXITED ? Ended::code : Ended::signal;
    exit_->value = note.b;
    exit_->core = note.a == CLD_DUMPED;
  }
  for (Source* source : {&out_, &err_}) {
    int bytes = 0;
    if (*source->fd && ::ioctl(source->fd->get(), FIONREAD, &bytes) == 0 && bytes > 0) {
      source->owed = static_cast<size_t>(bytes);
    }
  }
  if (!ending_) drain_until_ = mono_ns() + kDrain;
}

// ---- the end of the tree ----

void Stream::check_limits() {
  const int64_t now = mono_ns();
  if (ending_) return go_on_ending(now);
  if (exit_ || fault_) return;
  if (limits_.cancel_fd >= 0 && (cancel_ready_ || wait_fd(limits_.cancel_fd, POLLIN, 0))) {
    begin_end(Fault::cancelled);
  } else if (limits_.deadline_ns > 0 && now >= limits_.deadline_ns) {
    begin_end(Fault::timeout);
  }
}

void Stream::begin_end(Fault why) {
  ending_ = why;
  const int64_t now = mono_ns();
  kill_at_ = now + kGrace;
  give_up_at_ = now + kGiveUp;
  child_.gate.reset();
  const auto members = members_of(child_.keeper_pid, child_.group, child_.mark);
  left_ = members.size();
  signal_members(members, SIGTERM);
  signal_members(members, SIGCONT);  // a stopped one would not hear it
}

void Stream::go_on_ending(int64_t now) {
  if (drain_until_ > 0) return;
  if (!all_gone() && now >= kill_at_) {
    kill_at_ = now + kAgain;
    ::send(child_.control.get(), &kKill, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    child_.group.kill();
    const auto members = members_of(child_.keeper_pid, child_.group, child_.mark);
    if (++rounds_ > kSoonDead && !members.empty()) {
      if (!child_.group) child_.group = Group::make_late();
      if (child_.group) capture(members, child_.group);
      child_.group.kill();
    }
    signal_members(members, SIGKILL);
    left_ = members.size();
  }
  if (all_gone()) drain_until_ = now + kDrain;
}

// The keeper knows; when it was killed, a round of KILL has to find nobody.
bool Stream::all_gone() const {
  return idle_ || (keeper_gone_ && left_ == 0);
}

Result<Exit> Stream::outcome() {
  if (ending_ && !all_gone()) {
    return fail(*ending_, "cannot end everything that " + shown(what_.argv[0]) +
                              " started: " + std::to_string(left_) +
                              " processes do not react to KILL or belong to another user");
  }
  if (fault_) return tl::unexpected(*fault_);
  if (ending_ == Fault::timeout) {
    return fail(
        Fault::timeout,
        shown(what_.argv[0]) + " ran past its time limit and was ended with all it had started");
  }
  if (ending_) {
    return fail(Fault::cancelled,
                shown(what_.argv[0]) + " was cancelled and ended with all it had started");
  }
  return *exit_;
}

// ---- bytes ----

void Stream::read_output(Source& source) {
  if (!source.readable) return;
  ssize_t n;
  while ((n = ::read(source.fd->get(), buffer_.data(), buffer_.size())) < 0 && errno == EINTR) {
  }
  if (n > 0) {
    const auto count = static_cast<size_t>(n);
    source.owed -= std::min(source.owed, count);
    source.wanted = source.wanted && io_.output &&
                    io_.output(source.number, std::string_view(buffer_.data(), count));
  } else if (n == 0 || errno != EAGAIN) {  // a terminal says EIO when its last user has closed it
    source.fd->reset();
    source.owed = 0;
  } else {
    source.readable = false;
  }
}

bool Stream::output_done(int64_t now) const {
  if (!child_.out && !child_.err) return true;
  const bool owed = (out_.owed > 0 && out_.readable) || (err_.owed > 0 && err_.readable);
  return drain_until_ > 0 && now >= drain_until_ && !owed;
}

void Stream::feed() {
  if (!child_.in || exit_ || ending_) return;
  if (input_at_ == input_.size() && !input_ended_ &&
      (io_.input_fd >= 0 ? input_ready_ : child_takes_)) {
    fill_input();
  }
  while (input_at_ < input_.size()) {
    const ssize_t n =
        ::write(child_.in.get(), input_.data() + input_at_, input_.size() - input_at_);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n < 0) {  // EPIPE: the child does not read; its own business
      input_ended_ = true;
      input_at_ = input_.size();
      break;
    }
    input_at_ += static_cast<size_t>(n);
  }
  if (input_ended_ && input_at_ == input_.size()) child_.in.reset();
}

void Stream::fill_input() {
  input_.resize(kRead);
  input_at_ = 0;
  const size_t n = io_.input ? std::min(io_.input(std::span(input_)), kRead) : 0;
  input_.resize(n);
  if (n == 0) return end_of_input();
  line_is_open_ = input_.back() != '\n';
}

// A pipe is closed. A terminal is told as a person tells it: the end-of-file key, once for what is
// left of the line and once for the end.
void Stream::end_of_input() {
  input_ended_ = true;
  termios mode;
  if (what_.tty && ::tcgetattr(child_.in.get(), &mode) == 0 && (mode.c_lflag & ICANON)) {
    input_.assign(line_is_open_ ? 2 : 1, static_cast<char>(mode.c_cc[VEOF]));
    input_at_ = 0;
  }
}

}  // namespace sandglass::proc
