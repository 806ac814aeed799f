// The end of whole trees, and no zombies: rules X4, L6; cases E2, E6.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <thread>

#include "proc/cgroup.h"
#include "support/temp_dir.h"
#include "unit/proc/call.h"

namespace sandglass::proc::testing {
namespace {

using sandglass::testing::TempDir;

// Says its pid in the file once it runs, ignores TERM, and never ends.
const char* const kStubborn =
    "trap '' TERM HUP INT; echo $$ >> PIDS; echo up; while :; do sleep 1; done";

std::string stubborn(const TempDir& dir) {
  std::string text = kStubborn;
  return text.replace(text.find("PIDS"), 4, dir / "pids");
}

std::vector<int> pids(const TempDir& dir) {
  std::ifstream in(dir / "pids");
  std::vector<int> out;
  for (int pid; in >> pid;) out.push_back(pid);
  return out;
}

struct Way {
  const char* name;
  std::string line;  // BODY is run as sh BODY
};

class Detached : public ::testing::TestWithParam<Way> {};

TEST_P(Detached, IsEndedWithinThreeSeconds) {  // X4
  TempDir dir;
  dir.write("body", stubborn(dir));
  std::string line = GetParam().line;
  for (size_t at; (at = line.find("BODY")) != std::string::npos;) line.replace(at, 4, dir / "body");
  Spawn what = shell(line + "\ntrap '' TERM; while :; do sleep 1; done");
  what.tag = fresh_tag();
  auto cancel = make_eventfd();
  int64_t cancelled_at = 0;
  std::thread canceller([&] {
    EXPECT_TRUE(eventually([&] { return !pids(dir).empty(); }));
    cancelled_at = mono_ns();
    signal_eventfd(cancel->get());
  });
  Io io;
  io.output = [](int, std::string_view) { return true; };
  const auto result = run(what, io, {mono_ns() + 20'000'000'000, cancel->get()});
  const int64_t ended_at = mono_ns();
  canceller.join();
  const double seconds = static_cast<double>(ended_at - cancelled_at) / 1e9;
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().fault, Fault::cancelled) << result.error().text;
  EXPECT_LT(seconds, 3.0);
  ASSERT_EQ(pids(dir).size(), 1u);
  EXPECT_FALSE(alive(pids(dir)[0]));
  EXPECT_EQ(count_tagged(what.tag), 0);
  EXPECT_EQ(zombies_of(::getpid()), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Tree, Detached,
    ::testing::Values(Way{"foreground", "sh BODY"}, Way{"background", "sh BODY &"},
                      Way{"nohup", "nohup sh BODY &"}, Way{"setsid", "setsid sh BODY &"},
                      Way{"double_fork", "(setsid sh BODY &) &"},
                      Way{"setsid_twice_nohup", "setsid sh -c 'setsid nohup sh BODY & exit' &"},
                      Way{"without_environment", "(setsid env -i PATH=$PATH setsid sh BODY &)"},
                      Way{"closed_descriptors", "(setsid sh BODY </dev/null >/dev/null 2>&1 &)"}),
    [](const auto& param) { return std::string(param.param.name); });

TEST(Deadline, RunningCommand_IsEndedInTime) {  // X4, E2
  const Ran ran = run_it(shell("echo before; sleep 300"), within_ms(300));
  ASSERT_FALSE(ran.exit);
  EXPECT_EQ(ran.exit.error().fault, Fault::timeout);
  EXPECT_EQ(ran.out, "before\n");
  EXPECT_GE(ran.seconds, 0.3);
  EXPECT_LT(ran.seconds, 1.0);
}

TEST(Deadline, CommandThatCleansUp_HasTheGrace) {
  const Ran ran = run_it(
      shell("trap 'echo bye; exit 0' TERM; echo up; while :; do sleep .02; done"), within_ms(200));
  EXPECT_EQ(ran.exit.error().fault, Fault::timeout);
  EXPECT_EQ(ran.out, "up\nbye\n");
  EXPECT_LT(ran.seconds, 0.7);
}

TEST(Deadline, StoppedCommand_IsEndedToo) {
  const Ran ran = run_it(shell("kill -STOP $$"), within_ms(200));
  EXPECT_EQ(ran.exit.error().fault, Fault::timeout);
  EXPECT_LT(ran.seconds, 3.0);
}

TEST(Deadline, AfterTheExit_ChangesNothing) {
  Spawn what = shell("sleep 300 & echo $!; exit 3");
  const Ran ran = run_it(what, within_ms(120));
  ASSERT_TRUE(ran.exit) << ran.exit.error().text;
  EXPECT_EQ(ran.exit->value, 3);
  ::kill(std::atoi(ran.out.c_str()), SIGKILL);
}

TEST(Deadline, ForkingCommand_DoesNotOutrunTheKill) {
  TempDir dir;
  dir.write("body", "trap '' TERM; echo $$ >> " + (dir / "pids") +
                        "; [ $1 -gt 0 ] && for i in 1 2 3; do "
                        "setsid sh " +
                        (dir / "body") + " $(($1 - 1)) & done; while :; do sleep 1; done");
  const Ran ran = run_it(shell("sh " + (dir / "body") + " 4"), within_ms(600));
  EXPECT_EQ(ran.exit.error().fault, Fault::timeout) << ran.exit.error().text;
  EXPECT_LT(ran.seconds, 3.6);
  EXPECT_GT(pids(dir).size(), 20u);
  for (int pid : pids(dir)) EXPECT_FALSE(alive(pid));
}

TEST(Deadline, CallOfTheSameTag_LivesOn) {
  Spawn what = shell("sleep 30");
  what.tag = fresh_tag();
  Spawn other = shell("read line && exit 5");
  other.tag = what.tag;
  other.with_input = true;
  Io io;
  io.input = [&](std::span<char> room) -> size_t {  // once it waits, the first is ended
    EXPECT_EQ(run_it(what, within_ms(50)).exit.error().fault, Fault::timeout);
    room[0] = '\n';
    return 1;
  };
  const auto result = run(other, io, within_ms(10'000));
  ASSERT_TRUE(result) << result.error().text;
  EXPECT_EQ(result->value, 5);
}

TEST(Keeper, Killed_TreeIsEndedAndSaid) {
  Spawn what = shell("trap '' TERM; echo $PPID; setsid sleep 300 & while :; do sleep 1; done");
  what.tag = fresh_tag();
  Io io;
  io.output = [](int, std::string_view bytes) {
    ::kill(std::atoi(std::string(bytes).c_str()), SIGKILL);
    return true;
  };
  const auto result = run(what, io, within_ms(10'000));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().fault, Fault::lost) << result.error().text;
  EXPECT_EQ(count_tagged(what.tag), 0);
  EXPECT_EQ(zombies_of(::getpid()), 0);
}

TEST(Host, Killed_TreeDiesWithIt) {  // L6; E7's "host killed -9 during an exec"
  TempDir dir;
  dir.write("body", stubborn(dir));
  const pid_t host = ::fork();
  if (host == 0) {
    Io io;
    io.output = [](int, std::string_view) { return true; };
    (void)run(shell("(setsid sh " + (dir / "body") + " &) ; sh " + (dir / "body")), io, {});
    ::_exit(0);
  }
  ASSERT_TRUE(eventually([&] { return pids(dir).size() == 2; }));
  ::kill(host, SIGKILL);
  ::waitpid(host, nullptr, 0);
  for (int pid : pids(dir)) EXPECT_TRUE(eventually([&] { return !alive(pid); }));
}

TEST(Zombies, ThreeBackgroundChildren_LeaveNone) {  // E6, X4
  for (int i = 0; i < 3; ++i) {
    const Ran ran = run_it(shell("(sleep .1 >/dev/null 2>&1 &); sh -c 'sleep .05 & echo $$' &"));
    ASSERT_TRUE(ran.exit);
  }
  EXPECT_TRUE(eventually([] {
    // The keepers of the three end after their survivors, and are reaped as well.
    std::ifstream in("/proc/self/task/" + std::to_string(::getpid()) + "/children");
    const std::string children{std::istreambuf_iterator<char>(in), {}};
    return children.empty() && zombies_of(::getpid()) == 0;
  }));
}

TEST(ControlGroup, AfterTheCall_IsRemoved) {
  Group probe = Group::make();
  if (!probe) GTEST_SKIP() << "no control group can be made here";
  const std::string parent =
      std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(probe.parent_fd()));
  probe.remove();
  const Ran ran =
      run_it(shell("grep -o 'sandglass-[0-9a-f]*' /proc/self/cgroup | head -1 | tr -d '\\n'"));
  ASSERT_TRUE(ran.out.starts_with("sandglass-")) << ran.out;
  EXPECT_FALSE(std::filesystem::exists(parent + "/" + ran.out));
}

TEST(ControlGroup, OfVersion1_EndsWhatWasAdded) {
  Group group = Group::make_late();
  if (!group) GTEST_SKIP() << "no control group of version 1 can be made here";
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::pause();
    ::_exit(0);
  }
  group.add(pid);
  EXPECT_THAT(group.pids(), ::testing::ElementsAre(pid));
  group.give_back(pid);
  EXPECT_THAT(group.pids(), ::testing::IsEmpty());
  group.add(pid);
  group.kill();
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
  group.remove();
}

}  // namespace
}  // namespace sandglass::proc::testing
