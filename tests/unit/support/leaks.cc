// Leaves behind what a test must not. Run by leftovers_test.cc, never on its own.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include "support/left.h"

namespace sandglass::testing {
namespace {

pid_t start(void (*what)()) {
  const pid_t pid = ::fork();
  if (pid == 0) what(), ::_exit(0);
  return pid;
}
void wait_for_ever() {
  for (;;) ::pause();
}

TEST(Leaks, Process) {
  start(wait_for_ever);
}
TEST(Leaks, Zombie) {
  start([] {});
}
TEST(Leaks, Orphan) {
  ASSERT_EQ(std::system("sleep 300 >/dev/null 2>&1 &"), 0);
}
TEST(Leaks, Descriptor) {
  ASSERT_GE(::open("/dev/null", O_RDONLY | O_CLOEXEC), 0);
}
TEST(Leaks, Thread) {
  std::thread([] {
    ::pthread_setname_np(::pthread_self(), "forgotten");
    wait_for_ever();
  }).detach();
}
TEST(Leaks, File) {
  std::ofstream(std::getenv("TMPDIR") + std::string("/forgotten"));
}
TEST(Leaks, FileOutside) {
  std::ofstream(std::getenv("SANDGLASS_TEST_SHARED_DIR") + std::string("/sandglass-forgotten"));
}

class Given : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { fd_ = ::open("/dev/null", O_RDONLY | O_CLOEXEC); }
  static inline int fd_;
};
TEST_F(Given, Closed) {
  ::close(fd_);
}

TEST(Clean, Nothing) {
  const int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  std::thread([] {}).join();
  ::close(fd);
  const std::string file = std::getenv("TMPDIR") + std::string("/used");
  std::ofstream(file.c_str());
  ::unlink(file.c_str());
}
TEST(Clean, EndsSoon) {
  std::thread([] { std::this_thread::sleep_for(std::chrono::milliseconds(50)); }).detach();
  ASSERT_EQ(std::system("sleep 0.05 >/dev/null 2>&1 &"), 0);
}
TEST(Clean, Excused) {
  may_leave(Left::descriptor, "it is to be shown");
  ASSERT_GE(::open("/dev/null", O_RDONLY | O_CLOEXEC), 0);
}
TEST(Clean, ExcuseEnds) {
  ASSERT_GE(::open("/dev/null", O_RDONLY | O_CLOEXEC), 0);
}

}  // namespace
}  // namespace sandglass::testing
