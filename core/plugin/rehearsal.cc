#include "plugin/rehearsal.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "base/fd.h"

namespace sandglass::plugin {
namespace {

constexpr int kLimitMs = 10'000;
constexpr char kFine[] = "fine";

// Nothing of the host may run at the child's end: no exit handler, no destructor.
[[noreturn]] void child(const std::function<std::optional<Ended>()>& map, int answer) {
  std::string text = kFine;
  try {
    if (const auto ended = map()) text = "calls " + ended->text();
  } catch (...) {
    text = "throws something";
  }
  [[maybe_unused]] const ssize_t n = ::write(answer, text.data(), text.size());
  ::syscall(SYS_exit_group, 0);
  __builtin_unreachable();
}

std::string read_answer(int fd) {
  char bytes[100];
  if (!wait_fd(fd, POLLIN, kLimitMs)) return "does not return";
  const ssize_t n = ::read(fd, bytes, sizeof bytes);
  return n > 0 ? std::string(bytes, static_cast<size_t>(n)) : "";
}

}  // namespace

Status rehearse(const std::function<std::optional<Ended>()>& map) {
  auto pipe = make_pipe();
  if (!pipe) return {};
  const pid_t pid = ::fork();
  if (pid == 0) child(map, pipe->write.get());
  if (pid < 0) return {};
  pipe->write.reset();
  std::string answer = read_answer(pipe->read.get());
  if (answer != kFine) ::kill(pid, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (answer.empty())
    answer = WIFSIGNALED(status) ? "is ended by signal " + std::to_string(WTERMSIG(status))
                                 : "ends the process";
  if (answer == kFine) return {};
  return fail(Fault::plugin, answer + " while it is loaded. A plugin's constructors must return");
}

}  // namespace sandglass::plugin
