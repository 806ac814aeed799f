// Runs a real command as a user would: arguments, environment, directory, a time limit; both
// outputs.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace sandglass::testing {

struct Output {
  int code = -1;  // exit code, or 128 + signal; -1 when the time limit ended it
  std::string out, err;
};

class Command {
 public:
  explicit Command(std::vector<std::string> argv) : argv_(std::move(argv)) {}
  Command& in(std::string directory) { return directory_ = std::move(directory), *this; }
  Command& env(std::string name, std::string value) {
    return env_.emplace_back(std::move(name), std::move(value)), *this;
  }
  Command& input(std::string bytes) { return input_ = std::move(bytes), *this; }

  Output run(int limit_ms = 60'000) {
    int in[2], out[2], err[2];
    if (::pipe2(in, O_CLOEXEC) || ::pipe2(out, O_CLOEXEC) || ::pipe2(err, O_CLOEXEC))
      throw std::runtime_error("pipe failed");
    const pid_t pid = ::fork();
    if (pid == 0) child(in[0], out[1], err[1]);
    for (int fd : {in[0], out[1], err[1]}) ::close(fd);
    ::signal(SIGPIPE, SIG_IGN);
    [[maybe_unused]] ssize_t n = ::write(in[1], input_.data(), input_.size());
    ::close(in[1]);
    return collect(pid, out[0], err[0], limit_ms);
  }

 private:
  [[noreturn]] void child(int in, int out, int err) {
    ::setpgid(0, 0);
    ::dup2(in, 0), ::dup2(out, 1), ::dup2(err, 2);
    if (!directory_.empty() && ::chdir(directory_.c_str()) < 0) ::_exit(126);
    for (auto& [name, value] : env_) ::setenv(name.c_str(), value.c_str(), 1);
    std::vector<char*> argv;
    for (std::string& arg : argv_) argv.push_back(arg.data());
    argv.push_back(nullptr);
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }

  static Output collect(pid_t pid, int out, int err, int limit_ms) {
    Output result;
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(limit_ms);
    pollfd fds[] = {{out, POLLIN, 0}, {err, POLLIN, 0}};
    bool late = false;
    while (fds[0].fd >= 0 || fds[1].fd >= 0) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
          end - std::chrono::steady_clock::now());
      if (left.count() <= 0 || ::poll(fds, 2, static_cast<int>(left.count())) == 0) {
        late = true;
        ::kill(-pid, SIGKILL);
        break;
      }
      for (pollfd& p : fds) {
        if (p.fd < 0 || !p.revents) continue;
        char bytes[65536];
        const ssize_t n = ::read(p.fd, bytes, sizeof bytes);
        if (n > 0)
          (p.fd == out ? result.out : result.err).append(bytes, static_cast<size_t>(n));
        else
          p.fd = -1;
      }
    }
    ::close(out), ::close(err);
    int status = 0;
    ::waitpid(pid, &status, 0);
    if (!late) result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return result;
  }

  std::vector<std::string> argv_;
  std::vector<std::pair<std::string, std::string>> env_;
  std::string directory_, input_;
};

inline Output shell(const std::string& script, const std::string& directory) {
  return Command({"sh", "-ec", script}).in(directory).env("LC_ALL", "C.UTF-8").run();
}

}  // namespace sandglass::testing
