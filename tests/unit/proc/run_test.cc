// How commands start and end: rules X5, X6; case E8.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <atomic>
#include <thread>

#include "support/temp_dir.h"
#include "unit/proc/call.h"

namespace sandglass::proc::testing {
namespace {

using sandglass::testing::TempDir;

TEST(Run, AnyExitCode_IsHonest) {  // E8
  for (int code : {0, 1, 126, 127, 255}) {
    const Ran ran = run_it(shell("exit " + std::to_string(code)));
    ASSERT_TRUE(ran.exit) << ran.exit.error().text;
    EXPECT_EQ(ran.exit->how, Ended::code);
    EXPECT_EQ(ran.exit->value, code);
  }
  EXPECT_EQ(run_it(shell("exit 300")).exit->value, 44);
}

TEST(Run, KilledCommand_TellsTheSignal) {  // E8
  for (int signo : {SIGKILL, SIGTERM, SIGPIPE, SIGINT}) {
    const Ran ran = run_it(shell("kill -" + std::to_string(signo) + " $$"));
    ASSERT_TRUE(ran.exit);
    EXPECT_EQ(ran.exit->how, Ended::signal);
    EXPECT_EQ(ran.exit->value, signo);
  }
}

TEST(Run, MissingProgram_DiffersFromCode127) {  // E8, X6
  Spawn what;
  what.argv = {"sandglass-no-such-program"};
  const Ran ran = run_it(what);
  ASSERT_TRUE(ran.exit);
  EXPECT_EQ(ran.exit->how, Ended::not_found);
  EXPECT_EQ(ran.exit->value, ENOENT);
  EXPECT_EQ(ran.exit->survivors, 0u);
  EXPECT_EQ(ran.out + ran.err, "");
}

TEST(Run, ProgramThatMayNotRun_TellsErrno) {
  TempDir dir;
  dir.write("plain", "x");
  Spawn what;
  what.argv = {dir / "plain"};
  EXPECT_EQ(run_it(what).exit->how, Ended::not_found);
  EXPECT_EQ(run_it(what).exit->value, EACCES);
  dir.write("noshebang", "echo hi\n");
  ::chmod((dir / "noshebang").c_str(), 0755);
  what.argv = {dir / "noshebang"};
  EXPECT_EQ(run_it(what).exit->value, ENOEXEC);
}

TEST(Run, BadCwd_IsToldApart) {  // E8, X6
  Spawn what = shell("true");
  what.cwd = "/no/such/directory";
  const Ran ran = run_it(what);
  ASSERT_TRUE(ran.exit);
  EXPECT_EQ(ran.exit->how, Ended::bad_cwd);
  EXPECT_EQ(ran.exit->value, ENOENT);
}

TEST(Run, Cwd_Given_IsWhereTheCommandStarts) {
  TempDir dir;
  Spawn what = shell("pwd -P");
  what.cwd = dir.path();
  EXPECT_EQ(run_it(what).out, std::filesystem::canonical(dir.path()).string() + "\n");
}

TEST(Run, Env_OfTheCall_WinsOverTheHosts) {
  ::setenv("SANDGLASS_TEST_A", "host", 1);
  ::setenv("SANDGLASS_TEST_B", "host", 1);
  Spawn what = shell("echo $SANDGLASS_TEST_A $SANDGLASS_TEST_B $C $SANDGLASS_TAG");
  what.env = {"SANDGLASS_TEST_B=first", "SANDGLASS_TEST_B=last", "C=", "C=a=b",
              "SANDGLASS_TAG=forged"};
  what.tag = "the-tag";
  EXPECT_EQ(run_it(what).out, "host last a=b the-tag\n");
}

TEST(Run, ProgramName_IsLookedUpInTheChildsPath) {
  TempDir dir;
  dir.write("hello-from-path", "#!/bin/sh\necho found\n");
  ::chmod((dir / "hello-from-path").c_str(), 0755);
  Spawn what;
  what.argv = {"hello-from-path"};
  what.env = {"PATH=/nowhere:" + dir.path()};
  EXPECT_EQ(run_it(what).out, "found\n");
  what.env = {"PATH=/nowhere"};
  EXPECT_EQ(run_it(what).exit->how, Ended::not_found);
}

TEST(Run, WordsThatCannotBePassed_AreRefused) {
  Spawn what;
  EXPECT_EQ(run_it(what).exit.error().fault, Fault::invalid);
  what.argv = {"echo", std::string("a\0b", 3)};
  EXPECT_EQ(run_it(what).exit.error().fault, Fault::invalid);
  what.argv = {"echo"};
  what.env = {"NOVALUE"};
  const auto refused = run_it(what).exit;
  EXPECT_NE(refused.error().text.find("NOVALUE"), std::string::npos);
}

TEST(Run, LeakyHost_ChildHasNoFurtherDescriptors) {
  const int leaky = ::dup(0);  // not close-on-exec, as a careless library leaves them
  const Ran ran = run_it(shell("ls /proc/self/fd | tr '\\n' ' '"));
  ::close(leaky);
  EXPECT_EQ(ran.out, "0 1 2 3 ");  // 3 is ls reading the directory
}

TEST(Run, OddHostSignals_ChildHasPlainOnes) {
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGHUP, SIG_IGN);
  sigset_t some, before;
  ::sigemptyset(&some);
  ::sigaddset(&some, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &some, &before);
  const Ran ran = run_it(shell("grep -E 'SigBlk|SigIgn' /proc/self/status | tr -d '\\n\\t'"));
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  ::signal(SIGHUP, SIG_DFL);
  EXPECT_EQ(ran.out, "SigBlk:0000000000000000SigIgn:0000000000000000");
}

TEST(Run, WithoutTerminal_ChildLeadsAGroupOfItsOwn) {
  Spawn what;
  what.argv = {"python3", "-c",
               "import os; print(os.getpgrp() == os.getpid(), os.getsid(0) != " +
                   std::to_string(::getsid(0)) + ")"};
  EXPECT_EQ(run_it(what).out, "True True\n");
}

TEST(Run, Started_Called_ComesBeforeTheFirstInstruction) {
  TempDir dir;
  Spawn what = shell("touch " + (dir / "ran") + "; echo $$");
  Io io;
  int pid = 0;
  bool early = false, valid = false;
  std::string out;
  io.started = [&](int started, int pidfd) {
    pid = started;
    early = out.empty() && !std::filesystem::exists(dir / "ran");
    std::ifstream info("/proc/self/fdinfo/" + std::to_string(pidfd));
    const std::string text{std::istreambuf_iterator<char>(info), {}};
    valid = text.find("Pid:\t" + std::to_string(pid)) != std::string::npos;
  };
  io.output = [&](int, std::string_view bytes) {
    out += bytes;
    return true;
  };
  ASSERT_TRUE(run(what, io, {}));
  EXPECT_TRUE(early);
  EXPECT_TRUE(valid);
  EXPECT_EQ(out, std::to_string(pid) + "\n");
}

TEST(Run, CancelledOrLateBefore_NeverRuns) {  // X6
  TempDir dir;
  const Spawn what = shell("touch " + (dir / "ran"));
  auto cancel = make_eventfd();
  signal_eventfd(cancel->get());
  EXPECT_EQ(run_it(what, {0, cancel->get()}).exit.error().fault, Fault::cancelled);
  EXPECT_EQ(run_it(what, {mono_ns() - 1, -1}).exit.error().fault, Fault::timeout);
  EXPECT_FALSE(std::filesystem::exists(dir / "ran"));
}

TEST(Run, CancelledWhileStarting_NeverRuns) {  // X6
  TempDir dir;
  const Spawn what = shell("touch " + (dir / "ran"));
  auto cancel = make_eventfd();
  Io io;
  io.started = [&](int, int) { signal_eventfd(cancel->get()); };
  const auto result = run(what, io, {0, cancel->get()});
  EXPECT_EQ(result.error().fault, Fault::cancelled);
  EXPECT_FALSE(std::filesystem::exists(dir / "ran"));
}

TEST(Run, ManyThreads_DoNotMix) {
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 8; ++i) {
        const std::string word = std::to_string(t) + "." + std::to_string(i);
        Spawn what = shell("read x; echo $x; echo err$x >&2; exit " + std::to_string(t + i));
        what.with_input = true;
        what.tag = "many-" + word;
        const Ran ran = run_it(what, {}, word + "\n");
        if (ran.exit && ran.exit->value == t + i && ran.out == word + "\n" &&
            ran.err == "err" + word + "\n") {
          ++right;
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, 64);
  EXPECT_EQ(zombies_of(::getpid()), 0);
}

TEST(SignalTagged, RunningCommand_GetsIt) {
  Spawn what = shell("trap 'echo caught; exit 7' USR1; echo up; while :; do sleep 0.02; done");
  what.tag = fresh_tag();
  what.owner = 1;
  EXPECT_EQ(signal_tagged(what.owner, what.tag, SIGUSR1).error().fault, Fault::not_found);
  std::string out;
  Io io;
  io.output = [&](int stream, std::string_view bytes) {
    if (stream == 2) return true;  // the shell says that its sleep was signalled as well
    out += bytes;
    if (bytes == "up\n") {
      EXPECT_EQ(signal_tagged(2, what.tag, SIGUSR1).error().fault, Fault::not_found);
      EXPECT_TRUE(signal_tagged(what.owner, what.tag, SIGUSR1));
    }
    return true;
  };
  const auto result = run(what, io, within_ms(10'000));
  ASSERT_TRUE(result) << result.error().text;
  EXPECT_EQ(result->value, 7);
  EXPECT_EQ(out, "up\ncaught\n");
  EXPECT_EQ(signal_tagged(what.owner, what.tag, SIGUSR1).error().fault, Fault::not_found);
}

}  // namespace
}  // namespace sandglass::proc::testing
