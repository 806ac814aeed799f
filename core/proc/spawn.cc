#include "proc/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <unordered_set>

#include "base/hash.h"
#include "base/text.h"
#include "proc/image.h"
#include "proc/keeper.h"

namespace sandglass::proc {
namespace {

std::string_view name_of_variable(std::string_view entry) {
  return entry.substr(0, entry.find('='));
}

// The mark first (a search finds it soon), then what the call sets, then the host's own.
std::vector<std::string> environment(const Spawn& what, const std::string& mark) {
  std::vector<std::string> all{mark};
  if (!what.tag.empty()) all.push_back("SANDGLASS_TAG=" + what.tag);
  all.insert(all.end(), what.env.rbegin(), what.env.rend());  // the last of a name wins
  for (char** entry = environ; entry && *entry; ++entry) all.emplace_back(*entry);
  std::unordered_set<std::string_view> seen;
  std::vector<std::string> out;
  for (const std::string& entry : all) {
    if (seen.insert(name_of_variable(entry)).second) out.push_back(entry);
  }
  return out;
}

// What execvp would try, with the PATH that the child will have.
std::vector<std::string> programs(const std::string& name, const std::vector<std::string>& env) {
  if (name.empty()) return {};
  if (name.find('/') != std::string::npos) return {name};
  std::string_view path = "/usr/local/bin:/usr/bin:/bin";
  for (const std::string& entry : env) {
    if (name_of_variable(entry) == "PATH") path = std::string_view(entry).substr(5);
  }
  std::vector<std::string> out;
  for (size_t start = 0; start <= path.size();) {
    const size_t end = std::min(path.find(':', start), path.size());
    const std::string_view dir = path.substr(start, end - start);
    out.push_back(dir.empty() ? "./" + name : std::string(dir) + "/" + name);
    start = end + 1;
  }
  return out;
}

Status check(const Spawn& what) {
  if (what.argv.empty()) return fail(Fault::invalid, "cannot run a command without words");
  const auto holds_nul = [](const std::string& s) { return s.find('\0') != std::string::npos; };
  if (std::any_of(what.argv.begin(), what.argv.end(), holds_nul) || holds_nul(what.cwd) ||
      holds_nul(what.tag)) {
    return fail(Fault::invalid, "cannot run " + shown(what.argv[0]) + ": a NUL byte in its words");
  }
  for (const std::string& entry : what.env) {
    if (holds_nul(entry) || entry.find('=') == std::string::npos || entry[0] == '=') {
      return fail(Fault::invalid, "cannot run " + shown(what.argv[0]) + ": its environment entry " +
                                      shown(name_of_variable(entry)) + " is not NAME=value");
    }
  }
  return {};
}

// ---- descriptors ----

// The child's ends are 3 or more even in a host that closed its own 0, 1 or 2.
Status lift(Fd& fd) {
  if (!fd || fd.get() > 2) return {};
  const int higher = ::fcntl(fd.get(), F_DUPFD_CLOEXEC, 3);
  if (higher < 0) return fail_errno(errno, "cannot duplicate a descriptor");
  fd.reset(higher);
  return {};
}

Result<Fd> duplicate(const Fd& fd) {
  const int other = ::fcntl(fd.get(), F_DUPFD_CLOEXEC, 3);
  if (other < 0) return fail_errno(errno, "cannot duplicate a descriptor");
  return Fd(other);
}

void never_block(const Fd& fd) {
  if (fd) ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
}

struct ChildEnds {
  Fd control, gate, in, out, err, terminal;
};

Status open_terminal(const Spawn& what, Child& child, ChildEnds& ends) {
  child.out = Fd(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!child.out || ::grantpt(child.out.get()) < 0 || ::unlockpt(child.out.get()) < 0) {
    return fail_errno(errno, "cannot open a terminal");
  }
  const winsize size{static_cast<unsigned short>(what.rows),
                     static_cast<unsigned short>(what.columns), 0, 0};
  ::ioctl(child.out.get(), TIOCSWINSZ, &size);
  ends.terminal = Fd(::ioctl(child.out.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!ends.terminal) return fail_errno(errno, "cannot open the other side of a terminal");
  for (Fd* end : {&ends.out, &ends.err}) {
    auto copy = duplicate(ends.terminal);
    if (!copy) return tl::unexpected(copy.error());
    *end = std::move(*copy);
  }
  return {};
}

Status open_pipes(Child& child, ChildEnds& ends) {
  for (auto [ours, theirs] : {std::pair{&child.out, &ends.out}, std::pair{&child.err, &ends.err}}) {
    auto pipe = make_pipe();
    if (!pipe) return tl::unexpected(pipe.error());
    *ours = std::move(pipe->read);
    *theirs = std::move(pipe->write);
  }
  return {};
}

Status open_input(const Spawn& what, Child& child, ChildEnds& ends) {
  if (!what.with_input) {
    ends.in = Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!ends.in) return fail_errno(errno, "cannot open /dev/null");
    return {};
  }
  if (what.tty) {
    auto ours = duplicate(child.out);
    auto theirs = duplicate(ends.terminal);
    if (!ours || !theirs) return fail(Fault::failed, "cannot duplicate a descriptor of a terminal");
    child.in = std::move(*ours);
    ends.in = std::move(*theirs);
    return {};
  }
  auto pipe = make_pipe();
  if (!pipe) return tl::unexpected(pipe.error());
  child.in = std::move(pipe->write);
  ends.in = std::move(pipe->read);
  return {};
}

Status open_channels(Child& child, ChildEnds& ends) {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
    return fail_errno(errno, "cannot make a socket pair");
  }
  child.control = Fd(pair[0]);
  ends.control = Fd(pair[1]);
  auto gate = make_pipe();
  if (!gate) return tl::unexpected(gate.error());
  child.gate = std::move(gate->write);
  ends.gate = std::move(gate->read);
  return {};
}

Status open_all(const Spawn& what, Child& child, ChildEnds& ends) {
  Status ok = what.tty ? open_terminal(what, child, ends) : open_pipes(child, ends);
  if (ok) ok = open_input(what, child, ends);
  if (ok) ok = open_channels(child, ends);
  for (Fd* fd : {&child.out, &child.err, &ends.control, &ends.gate, &ends.in, &ends.out, &ends.err,
                 &ends.terminal}) {
    if (ok) ok = lift(*fd);
  }
  for (const Fd* fd : {&child.in, &child.out, &child.err}) never_block(*fd);
  return ok;
}

// ---- the keeper ----

std::string orders_of(const Spawn& what, const Child& child, const ChildEnds& ends) {
  const std::vector<std::string> env = environment(what, child.mark);
  const std::vector<std::string> tries = programs(what.argv[0], env);
  Orders o;
  o.control = ends.control.get();
  o.gate = ends.gate.get();
  o.in = ends.in.get();
  o.out = ends.out.get();
  o.err = ends.err.get();
  o.terminal = ends.terminal.get();
  o.drain_out = child.out.get();
  o.drain_err = child.err.get();
  if (child.group) {
    o.group_dir = child.group.dir_fd();
    o.group_join = child.group.join_fd();
    o.group_kill = child.group.kill_fd();
    o.group_parent = child.group.parent_fd();
  }
  o.programs = static_cast<uint32_t>(tries.size());
  o.words = static_cast<uint32_t>(what.argv.size());
  o.variables = static_cast<uint32_t>(env.size());
  std::string out(reinterpret_cast<const char*>(&o), sizeof o);
  for (const auto* list : {&tries, &what.argv, &env}) {
    for (const std::string& text : *list) out.append(text).append(1, '\0');
  }
  return out.append(what.cwd).append(1, '\0').append(child.group.name()).append(1, '\0');
}

// Between vfork and exec: the host's memory is shared, nothing but system calls may happen.
[[noreturn]] void become_keeper(int image, const Orders& orders, int orders_fd, char* const* argv) {
  int fds[kOrderedDescriptors];
  std::memcpy(fds, &orders, sizeof fds);
  for (const int fd : fds) {
    if (fd >= 0) ::fcntl(fd, F_SETFD, 0);
  }
  ::fcntl(orders_fd, F_SETFD, 0);
  char* const no_environment[] = {nullptr};
  ::syscall(SYS_execveat, image, "", argv, no_environment, AT_EMPTY_PATH);
  const Note note{Word::no_fork, errno};
  ::send(orders.control, &note, sizeof note, MSG_NOSIGNAL);
  ::_exit(127);
}

// No handler of the host may run in the child: signals are blocked before it is there, and stay so
// in the keeper.
pid_t start_keeper(int image, const std::string& text, int orders_fd) {
  Orders orders;
  std::memcpy(&orders, text.data(), sizeof orders);
  std::string name = "sandglass-keep", number = std::to_string(orders_fd);
  char* argv[] = {name.data(), number.data(), nullptr};
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::vfork();
  if (pid == 0) become_keeper(image, orders, orders_fd, argv);
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return pid;
}

Status start(const Spawn& what, Child& child, const ChildEnds& ends) {
  const auto image = keeper_image();
  if (!image) return tl::unexpected(image.error());
  const std::string text = orders_of(what, child, ends);
  auto orders = memory_file(text);
  if (!orders) return tl::unexpected(orders.error());
  if (Status ok = lift(*orders); !ok) return ok;
  child.keeper_pid = start_keeper(*image, text, orders->get());
  if (child.keeper_pid < 0) {
    return fail_errno(errno, "cannot start a process for " + shown(what.argv[0]));
  }
  child.keeper = Fd(static_cast<int>(::syscall(SYS_pidfd_open, child.keeper_pid, 0)));
  if (!child.keeper) return fail_errno(errno, "cannot watch the process of " + shown(what.argv[0]));
  return {};
}

}  // namespace

Result<Child> spawn(const Spawn& what) {
  if (Status ok = check(what); !ok) return tl::unexpected(ok.error());
  Child child;
  ChildEnds ends;
  if (Status ok = open_all(what, child, ends); !ok) return tl::unexpected(ok.error());
  child.group = Group::make();
  child.mark = "SANDGLASS_CALL=" + random_hex(16);
  if (Status ok = start(what, child, ends); !ok) {
    child.group.remove();
    return tl::unexpected(ok.error());
  }
  return child;
}

}  // namespace sandglass::proc
