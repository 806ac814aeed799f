// The keeper program. One thread, no heap beyond its orders, no library but libc.
#include "proc/keeper.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <iterator>

namespace sandglass::proc {
namespace {

struct Job : Orders {
  const char** program_list;  // ended by null, as the next two
  char** argv;
  char** envp;
  const char* cwd;
  const char* group_name;
};

void tell(int control, Note note, int pidfd = -1) {
  iovec iov{&note, sizeof note};
  msghdr message{};
  message.msg_iov = &iov;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof pidfd)] = {};
  if (pidfd >= 0) {
    message.msg_control = room;
    message.msg_controllen = sizeof room;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof pidfd);
    std::memcpy(CMSG_DATA(header), &pidfd, sizeof pidfd);
  }
  while (::sendmsg(control, &message, MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

// ---- the command, between fork and exec ----

void default_signals() {
  struct sigaction plain {};
  plain.sa_handler = SIG_DFL;
  for (int signo = 1; signo <= SIGRTMAX; ++signo) ::sigaction(signo, &plain, nullptr);
}

int try_programs(const Job& o) {
  int error = ENOENT;
  for (const char* const* program = o.program_list; *program; ++program) {
    ::execve(*program, o.argv, o.envp);
    if (errno != ENOENT && errno != ENOTDIR && errno != EACCES) return errno;
    // One that may not be run says more than one that is not there or cannot be looked for.
    if (errno == EACCES && ::access(*program, F_OK) == 0) error = EACCES;
  }
  return error;
}

[[noreturn]] void become_command(const Job& o) {
  default_signals();
  if (o.terminal >= 0) {
    ::setsid();
    ::ioctl(o.terminal, TIOCSCTTY, 0);
  } else {
    ::setpgid(0, 0);
  }
  const pid_t pid = ::getpid();
  tell(o.control, {Word::ready, pid}, static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  char go = 0;
  ssize_t n;
  while ((n = ::read(o.gate, &go, 1)) < 0 && errno == EINTR) {
  }
  if (n != 1) ::_exit(127);

  ::dup2(o.in, 0);
  ::dup2(o.out, 1);
  ::dup2(o.err, 2);
  if (*o.cwd && ::chdir(o.cwd) < 0) {
    tell(o.control, {Word::no_cwd, errno});
    ::_exit(127);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  tell(o.control, {Word::no_exec, try_programs(o)});
  ::_exit(127);
}

// Born in its group where there is one. The keeper is small: a fork of it costs next to nothing
// (and a child of vfork must not return from here: it would write over its parent's stack).
pid_t fork_command(const Job& o) {
  if (o.group_dir < 0) return ::fork();
  clone_args args{};
  args.flags = CLONE_INTO_CGROUP;
  args.exit_signal = SIGCHLD;
  args.cgroup = static_cast<uint64_t>(o.group_dir);
  const long pid = ::syscall(SYS_clone3, &args, sizeof args);
  if (pid >= 0) return static_cast<pid_t>(pid);
  const pid_t plain = ::fork();
  // Where joining is refused too, the keeper still holds the tree.
  if (plain == 0) [[maybe_unused]]
    const ssize_t joined = ::write(o.group_join, "0", 1);
  return plain;
}

// ---- the keeper ----

// All but those of the orders, which the command shall not get either.
void close_others(const Job& o) {
  int kept[kOrderedDescriptors];
  std::memcpy(kept, static_cast<const Orders*>(&o), sizeof kept);
  std::sort(std::begin(kept), std::end(kept));
  unsigned next = 0;
  for (const int fd : kept) {
    if (fd < 0) continue;
    const auto number = static_cast<unsigned>(fd);
    if (number > next) ::syscall(SYS_close_range, next, number - 1, 0);
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    next = number + 1;
  }
  ::syscall(SYS_close_range, next, UINT_MAX, 0);
}

// Our own children, unreaped, so their numbers cannot have been given away. Those of the killed
// become ours and are met the next time.
void kill_children(const Job& o, pid_t command) {
  if (o.group_kill >= 0) [[maybe_unused]]
    ssize_t n = ::write(o.group_kill, "1", 1);
  int fd = ::open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    if (command > 0) ::kill(-command, SIGKILL);
    return;
  }
  char bytes[4096];
  pid_t pid = 0;
  for (ssize_t n; (n = ::read(fd, bytes, sizeof bytes)) > 0;) {
    for (ssize_t i = 0; i < n; ++i) {
      if (bytes[i] >= '0' && bytes[i] <= '9') {
        pid = pid * 10 + (bytes[i] - '0');
      } else if (pid > 0) {
        ::kill(pid, SIGKILL);
        pid = 0;
      }
    }
  }
  ::close(fd);
}

// False when there is no child left.
bool reap(const Job& o, pid_t command) {
  Note end{Word::exited};
  bool left = true, ended = false;
  for (;;) {
    siginfo_t info{};
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG) < 0) {
      if (errno == EINTR) continue;
      left = false;
      break;
    }
    if (info.si_pid == 0) break;
    if (info.si_pid != command) continue;
    ended = true;
    end.a = info.si_code;
    end.b = info.si_status;
  }
  end.c = left ? 0 : 1;
  if (ended) tell(o.control, end);
  return left;
}

void discard(int& fd) {
  char bytes[4096];
  const ssize_t n = ::read(fd, bytes, sizeof bytes);
  if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR))) return;
  ::close(fd);
  fd = -1;
}

struct State {
  bool released = false, killing = false, told_idle = false;
  int control = -1, children = -1, drain[2] = {-1, -1};
};

void hear(State& s) {
  char word = 0;
  const ssize_t n = ::recv(s.control, &word, 1, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0) {
    if (!s.released) s.killing = true;
    s.released = true;
    s.control = -1;
  } else if (word == kRelease) {
    s.released = true;
  } else if (word == kKill) {
    s.killing = true;
  }
}

void wait_for_news(State& s) {
  const int drain = s.released ? 1 : 0;
  pollfd fds[4] = {{s.control, POLLIN, 0},
                   {s.children, POLLIN, 0},
                   {drain ? s.drain[0] : -1, POLLIN, 0},
                   {drain ? s.drain[1] : -1, POLLIN, 0}};
  if (::poll(fds, 4, s.killing ? 10 : 60'000) <= 0) return;
  if (fds[1].revents) {
    signalfd_siginfo news[8];
    [[maybe_unused]] ssize_t n = ::read(s.children, news, sizeof news);
  }
  if (fds[0].revents) hear(s);
  if (fds[2].revents) discard(s.drain[0]);
  if (fds[3].revents) discard(s.drain[1]);
}

[[noreturn]] void attend(const Job& o, pid_t command, int children) {
  State s{false, false, false, o.control, children, {o.drain_out, o.drain_err}};
  for (;;) {
    if (s.killing) kill_children(o, command);
    if (!reap(o, command)) {
      if (!s.told_idle) tell(o.control, {Word::idle});
      s.told_idle = true;
      if (s.released) break;
    }
    wait_for_news(s);
  }
  if (o.group_parent >= 0) ::unlinkat(o.group_parent, o.group_name, AT_REMOVEDIR);
  ::_exit(0);
}

[[noreturn]] void keep(const Job& o) {
  ::setsid();
  ::prctl(PR_SET_NAME, "sandglass-keep");
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  close_others(o);
  ::signal(SIGCHLD, SIG_DFL);  // ignored, it would hide how the command ended
  sigset_t child;
  ::sigemptyset(&child);
  ::sigaddset(&child, SIGCHLD);
  const int children = ::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);

  const pid_t command = fork_command(o);
  if (command == 0) become_command(o);
  if (command < 0) {
    tell(o.control, {Word::no_fork, errno});
    ::_exit(1);
  }
  [[maybe_unused]] const int away = ::chdir("/");  // keeps no file system busy
  for (int fd : {o.in, o.out, o.err, o.terminal, o.gate, o.group_dir, o.group_join}) {
    if (fd >= 0) ::close(fd);
  }
  attend(o, command, children);
}

// The next text of the orders; ends the keeper when there is none.
char* take(char*& at, char* end) {
  char* text = at;
  auto* nul = static_cast<char*>(std::memchr(at, 0, static_cast<size_t>(end - at)));
  if (!nul) ::_exit(2);
  at = nul + 1;
  return text;
}

template <class T>
T* take_list(uint32_t count, char*& at, char* end) {
  auto* list = static_cast<T*>(std::calloc(size_t{count} + 1, sizeof(T)));
  if (!list) ::_exit(2);
  for (uint32_t i = 0; i < count; ++i) list[i] = take(at, end);
  return list;
}

Job read_job(int fd) {
  struct stat st;
  if (::fstat(fd, &st) < 0 || static_cast<size_t>(st.st_size) < sizeof(Orders)) ::_exit(2);
  const auto size = static_cast<size_t>(st.st_size);
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
  if (memory == MAP_FAILED) ::_exit(2);
  char* at = static_cast<char*>(memory);
  char* end = at + size;
  Job job{};
  std::memcpy(static_cast<Orders*>(&job), at, sizeof(Orders));
  at += sizeof(Orders);
  job.program_list = take_list<const char*>(job.programs, at, end);
  job.argv = take_list<char*>(job.words, at, end);
  job.envp = take_list<char*>(job.variables, at, end);
  job.cwd = take(at, end);
  job.group_name = take(at, end);
  return job;
}

}  // namespace
}  // namespace sandglass::proc

// Started with every signal blocked, so that it never acts on one.
int main(int argc, char** argv) {
  if (argc != 2) return 2;
  sandglass::proc::keep(sandglass::proc::read_job(std::atoi(argv[1])));
}
