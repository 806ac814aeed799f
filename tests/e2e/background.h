// A process of the test's own that runs while the test goes on.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace sandglass::testing {

// Waits for something that happens outside this process. False at the deadline.
inline bool eventually(const std::function<bool()>& done, int limit_ms = 20'000) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(limit_ms);
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

// Killed and reaped at the end. stderr goes to `log`, which may be /dev/null.
class Background {
 public:
  Background(std::vector<std::string> argv, const std::string& directory, const std::string& log) {
    std::vector<char*> words;
    for (std::string& word : argv) words.push_back(word.data());
    words.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ != 0) return;
    const int null = ::open("/dev/null", O_RDWR);
    const int err = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(null, 0), ::dup2(null, 1), ::dup2(err, 2);
    if (::chdir(directory.c_str()) < 0) ::_exit(126);
    ::execvp(words[0], words.data());
    ::_exit(127);
  }
  ~Background() {
    if (pid_ > 0) end(SIGKILL);
  }
  // The exit code, or 128 + the signal.
  int end(int signal) {
    ::kill(pid_, signal);
    return wait();
  }
  int wait() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t pid_ = -1;
};

}  // namespace sandglass::testing
