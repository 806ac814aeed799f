#include "support/guard.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "support/left.h"

namespace sandglass::testing {
namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

pid_t guard = 0;

std::string own_directory() {
  const char* base = std::getenv("TMPDIR");
  std::string path = std::string(base && *base ? base : "/tmp") + "/test-of-sandglass-XXXXXX";
  if (!::mkdtemp(path.data())) {
    std::perror(("cannot make " + path).c_str());
    std::exit(2);
  }
  ::chmod(path.c_str(), 0755);  // some tests look at it as another user
  for (const char* name : {"TMPDIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME"})
    ::setenv(name, path.c_str(), 1);
  return path;
}

const sigset_t& guarded_signals() {
  static const sigset_t set = [] {
    sigset_t made;
    ::sigemptyset(&made);
    for (const int signo : {SIGCHLD, SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&made, signo);
    return made;
  }();
  return set;
}

// True when `body` ended; everything else that did is reaped as well.
bool reap(pid_t body, int& status) {
  bool ended = false;
  for (;;) {
    int one = 0;
    const pid_t pid = ::waitpid(-1, &one, WNOHANG);
    if (pid <= 0) return ended;
    if (pid == body) status = one, ended = true;
  }
}

void wait_for_signal(int ms, pid_t forward_to) {
  const timespec limit{ms / 1000, ms % 1000 * 1'000'000L};
  const int signo = ::sigtimedwait(&guarded_signals(), nullptr, &limit);
  if (signo > 0 && signo != SIGCHLD && forward_to > 0) ::kill(forward_to, signo);
}

bool processes_left() {
  int status = 0;
  const auto end = steady_clock::now() + std::chrono::milliseconds(grace_ms());
  auto left = children_of({::getpid()});
  while (!left.empty() && steady_clock::now() < end) {
    wait_for_signal(20, 0);
    reap(0, status);
    left = children_of({::getpid()});
  }
  for (const auto& [pid, process] : left)
    std::fprintf(stderr, "left behind: %s\n", text_of(pid, process).c_str());
  // The children of the killed become ours.
  for (auto rest = left; !rest.empty(); rest = children_of({::getpid()})) {
    for (const auto& [pid, process] : rest) ::kill(pid, SIGKILL);
    wait_for_signal(20, 0);
    reap(0, status);
  }
  return !left.empty();
}

bool files_left(const std::string& directory) {
  bool any = false;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(directory, code)) {
    std::fprintf(stderr, "left behind: %s\n", entry.path().c_str());
    any = true;
  }
  fs::remove_all(directory, code);
  if (code) std::fprintf(stderr, "%s: %s\n", directory.c_str(), code.message().c_str());
  return any || code;
}

int end_like(int status) {
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);  // the core of the body is the one to look at
  const int signo = WTERMSIG(status);
  ::signal(signo, SIG_DFL);
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, signo);
  ::sigprocmask(SIG_UNBLOCK, &set, nullptr);
  ::raise(signo);
  return 128 + signo;
}

}  // namespace

pid_t guard_pid() {
  return guard;
}

int run_guarded(const std::function<int()>& body) {
  if (const char* wanted = std::getenv("SANDGLASS_TEST_GUARD"); wanted && *wanted == '0')
    return body();
  const std::string directory = own_directory();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigset_t before;
  ::sigprocmask(SIG_BLOCK, &guarded_signals(), &before);
  const pid_t me = ::getpid(), child = ::fork();
  if (child < 0) {
    std::perror("cannot fork");
    return 2;
  }
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    guard = me;
    std::exit(body());
  }
  int status = 0;
  while (!reap(child, status)) wait_for_signal(1000, child);
  const bool processes = processes_left(), files = files_left(directory);
  return processes || files ? 1 : end_like(status);
}

}  // namespace sandglass::testing
