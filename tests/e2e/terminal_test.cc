// `sandglass run` on a terminal: the command's own follows the size of the user's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

#include "e2e/product.h"

namespace sandglass::testing {
namespace {

using ::testing::HasSubstr;

// sandglass on a terminal of its own, as its leader.
class OnTerminal {
 public:
  OnTerminal(const Product& product, const std::string& script, unsigned short rows,
             unsigned short columns) {
    winsize size{rows, columns, 0, 0};
    pid_ = ::forkpty(&master_, nullptr, nullptr, &size);
    if (pid_ != 0) return;
    const std::string state = product.state();
    ::setenv("HOME", "/nonexistent", 1);
    if (::chdir(product.workspace().c_str()) == 0)
      ::execl(SANDGLASS, SANDGLASS, "--state-dir", state.c_str(), "run", "--", "sh", "-c",
              script.c_str(), nullptr);
    ::_exit(127);
  }
  ~OnTerminal() {
    if (pid_ > 0) ::kill(pid_, SIGKILL), ::waitpid(pid_, nullptr, 0);
    ::close(master_);
  }

  void resize(unsigned short rows, unsigned short columns) const {
    const winsize size{rows, columns, 0, 0};
    ASSERT_EQ(::ioctl(master_, TIOCSWINSZ, &size), 0);
  }
  // Reads until `wanted` was shown; false after 20 s or at the end.
  bool shows(const std::string& wanted) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (shown.find(wanted) == std::string::npos) {
      pollfd p{master_, POLLIN, 0};
      if (std::chrono::steady_clock::now() > end) return false;
      if (::poll(&p, 1, 100) <= 0) continue;
      char bytes[4096];
      const ssize_t n = ::read(master_, bytes, sizeof bytes);
      if (n <= 0) return false;
      shown.append(bytes, static_cast<size_t>(n));
    }
    return true;
  }
  int code() {
    while (shows("\xff never shown")) {
    }
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  std::string shown;

 private:
  int master_ = -1;
  pid_t pid_ = -1;
};

TEST(Terminal, Resized_CommandSeesTheNewSize) {
  Product product;
  OnTerminal run(product,
                 "trap 'echo now $(stty size); exit 9' WINCH; echo first $(stty size); "
                 "while :; do sleep .02; done",
                 31, 97);
  ASSERT_TRUE(run.shows("first 31 97")) << run.shown;
  run.resize(52, 123);
  EXPECT_TRUE(run.shows("now 52 123")) << run.shown;
  EXPECT_EQ(run.code(), 9) << run.shown;
}

// Before, while and after the sandbox is made: whenever it comes, the command gets it.
TEST(Terminal, ResizedWhileStarting_CommandGetsTheNewSize) {
  for (const int delay_ms : {0, 1, 3, 5, 8, 12, 20, 40}) {
    Product product;
    OnTerminal run(product,
                   "while [ \"$(stty size)\" != \"52 123\" ]; do sleep .02; done; echo has it", 31,
                   97);
    ::poll(nullptr, 0, delay_ms);
    run.resize(52, 123);
    EXPECT_TRUE(run.shows("has it")) << delay_ms << "\n" << run.shown;
    EXPECT_EQ(run.code(), 0) << run.shown;
  }
}

}  // namespace
}  // namespace sandglass::testing
