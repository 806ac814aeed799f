// max_user_watches used up, in a user namespace of its own: the limit there is nobody else's.
#include <sched.h>
#include <sys/wait.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "contract/watchers/session_fixture.h"

namespace sandglass::watch::testing {

static bool write_file(const char* path, const std::string& text) {
  std::ofstream out(path);
  out << text;
  out.flush();
  return out.good();
}

static bool limit_watches_to(const std::string& limit) {
  const std::string uid = "0 " + std::to_string(::getuid()) + " 1";
  return ::unshare(CLONE_NEWUSER) == 0 && write_file("/proc/self/uid_map", uid) &&
         write_file("/proc/sys/user/max_inotify_watches", limit);
}

TEST_F(SessionTest, WatchesUsedUp_SaidOnce_TheRestIsPolled) {  // A4, J18, rule 12
  for (int i = 0; i < 60; ++i) write("d" + std::to_string(i) + "/f", "1");
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (!limit_watches_to("30")) ::_exit(77);
    start();
    if (!session_) ::_exit(1);
    const auto state = nlohmann::json::parse(session_->state_json());
    const std::string reason = state["reason"];
    if (reason.find("fs.inotify.max_user_watches is 30, this tree wants 61") == std::string::npos)
      ::_exit(2);
    if (state["blind"].get<int>() < 30) ::_exit(3);
    for (int i = 0; i < 60; ++i) write("d" + std::to_string(i) + "/g", "2");
    // With pauses: who looks all the time keeps the lock from those who tell.
    const int64_t deadline = mono_ns() + int64_t{20} * 1'000'000'000;
    while (!replica_->difference().empty()) {
      if (mono_ns() > deadline) ::_exit(4);
      ::usleep(2'000);
    }
    // Freed watches are taken up again, with what is below.
    for (int i = 0; i < 40; ++i) std::filesystem::remove_all(at("d" + std::to_string(i)));
    while (nlohmann::json::parse(session_->state_json())["blind"].get<int>() > 0) {
      if (mono_ns() > deadline) ::_exit(5);
      ::usleep(2'000);
    }
    write("d59/h/i", "3");
    session_->flush(kLongMs);
    if (!replica_->difference().empty()) ::_exit(6);
    ::_exit(session_->stop(kLongMs) ? 0 : 7);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "a user namespace is not permitted here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace sandglass::watch::testing
