// Commands in a sandbox: rules X2 to X6; cases E1, E2, E5, E8.
#include <signal.h>

#include <atomic>
#include <thread>

#include "contract/providers/provider.h"

namespace sandglass::contract {
namespace {

TEST_P(Provider, Exec_Command_StartsInTheWorkspace) {
  box.dir().write("sub/here.txt", "yes");
  const Ran ran = box.exec(shell("cat sub/here.txt; pwd -P > where"));
  ASSERT_TRUE(ran.status) << ran.status.error().text;
  EXPECT_EQ(ran.exit.how, uint32_t{SG_EXIT_CODE});
  EXPECT_EQ(ran.out, "yes");
  EXPECT_GT(ran.pid, 0);
}

TEST_P(Provider, Exec_CwdInside_IsMapped) {
  box.dir().write("sub/here.txt", "yes");
  for (const char* cwd : {"/workspace/sub", "sub", "/workspace/./sub/"}) {
    Command command = shell("cat here.txt");
    command.cwd = cwd;
    EXPECT_EQ(box.exec(command).out, "yes") << cwd;
  }
}

TEST_P(Provider, Exec_CwdThatIsMissing_IsSaidAsSuch) {  // E8, X6
  for (const char* cwd : {"/workspace/nowhere", "/workspace/file"}) {
    box.dir().write("file", "");
    Command command = shell("true");
    command.cwd = cwd;
    const Ran ran = box.exec(command);
    ASSERT_TRUE(ran.status) << ran.status.error().text;
    EXPECT_EQ(ran.exit.how, uint32_t{SG_EXIT_BAD_CWD}) << cwd;
  }
}

TEST_P(Provider, Exec_CwdThatLeaves_IsRefused) {
  ASSERT_EQ(::symlink("/etc", (box.dir() / "out").c_str()), 0);
  for (const char* cwd : {"/workspace/../etc", "..", "/etc", "/workspace/out", "/workspacex"}) {
    Command command = shell("echo ran");
    command.cwd = cwd;
    const Ran ran = box.exec(command);
    ASSERT_FALSE(ran.status) << cwd;
    EXPECT_EQ(ran.status.error().fault, Fault::denied) << cwd;
    EXPECT_EQ(ran.out, "");
  }
}

TEST_P(Provider, Exec_Endings_AreHonest) {  // E8, X6
  EXPECT_EQ(box.exec(shell("exit 127")).exit.value, 127);
  const Ran killed = box.exec(shell("kill -9 $$"));
  EXPECT_EQ(killed.exit.how, uint32_t{SG_EXIT_SIGNAL});
  EXPECT_EQ(killed.exit.value, 9);
  Command missing;
  missing.argv = {"sandglass-no-such-program"};
  const Ran ran = box.exec(missing);
  ASSERT_TRUE(ran.status);
  EXPECT_EQ(ran.exit.how, uint32_t{SG_EXIT_NOT_FOUND});
}

TEST_P(Provider, Exec_Env_IsSetInside) {
  Command command = shell("printf %s \"$A\"");
  command.env = {"A=b = c"};
  EXPECT_EQ(box.exec(command).out, "b = c");
}

TEST_P(Provider, Exec_Secrets_AreInTheEnvironmentOnly) {
  Box with(GetParam(), R"({"TOKEN": "s3cr\u00e9t"})");
  EXPECT_EQ(with.exec(shell("printf %s \"$TOKEN\"")).out, "s3cr\xc3\xa9t");
  EXPECT_EQ(with.id().find("s3cr"), std::string::npos);
}

TEST_P(Provider, Exec_BytesInAndOut_AreIntact) {  // E1, E5
  std::string all;
  for (int i = 0; i < 100'000; ++i) all += static_cast<char>(i * 7);
  Command command;
  command.argv = {"cat"};
  command.input = all;
  EXPECT_TRUE(box.exec(command).out == all);
  EXPECT_EQ(box.exec(shell("cat; echo end")).out, "end\n");  // X5
}

TEST_P(Provider, Exec_BackgroundChild_ReturnsWithASurvivor) {  // E2, X4
  if (!(box.capabilities() & SG_CAP_BACKGROUND))
    GTEST_SKIP() << "it ends what a command leaves running";
  Command command = shell("sleep 300 & echo hi; exit 3");
  command.tag = "contract-background";
  const Ran ran = box.exec(command);
  ASSERT_TRUE(ran.status);
  EXPECT_EQ(ran.exit.value, 3);
  EXPECT_EQ(ran.exit.survivors, 1u);
  EXPECT_LT(ran.seconds, 0.5);
  EXPECT_TRUE(box.signal(command.tag, SIGKILL));
  EXPECT_TRUE(eventually([&] { return !box.signal(command.tag, 0); }));
}

TEST_P(Provider, Exec_Cancelled_EndsTheTree) {  // X4
  if (!(box.capabilities() & SG_CAP_KILL)) GTEST_SKIP() << "it cannot end whole trees";
  Command command = shell(
      "(setsid nohup sh -c 'trap \"\" TERM; while :; do sleep 1; done' &) ; "
      "trap '' TERM; echo up; while :; do sleep 1; done");
  command.tag = "contract-cancel";
  plugin::Call call({box.id(), mono_ns() + 20'000'000'000, nullptr});
  int64_t cancelled_at = 0;
  command.on_output = [&](std::string_view) {
    cancelled_at = mono_ns();
    call.cancel();
  };
  const Ran ran = box.exec(command, call);
  ASSERT_FALSE(ran.status);
  EXPECT_EQ(ran.status.error().fault, Fault::cancelled) << ran.status.error().text;
  EXPECT_LT(mono_ns() - cancelled_at, 3'000'000'000);
  EXPECT_FALSE(box.signal(command.tag, 0));
}

TEST_P(Provider, Exec_PastItsDeadline_IsEnded) {  // X4
  Command command = shell("sleep 300");
  command.within_ms = 200;
  const Ran ran = box.exec(command);
  ASSERT_FALSE(ran.status);
  EXPECT_EQ(ran.status.error().fault, Fault::timeout);
  EXPECT_LT(ran.seconds, 3.2);
}

TEST_P(Provider, Exec_Terminal_HasASizeThatChanges) {
  if (!(box.capabilities() & SG_CAP_TTY)) GTEST_SKIP() << "it offers no terminal";
  Command command = shell(
      "trap 'stty size </dev/tty; exit 9' WINCH; stty size </dev/tty; "
      "while :; do sleep .02; done");
  command.tty = true;
  command.tag = "contract-tty";
  bool resized = false;
  command.on_output = [&](std::string_view) {
    if (!resized) {
      EXPECT_TRUE(box.resize(command.tag, 50, 120));
    }
    resized = true;
  };
  const Ran ran = box.exec(command);
  ASSERT_TRUE(ran.status) << ran.status.error().text;
  EXPECT_EQ(ran.out, "24 80\r\n50 120\r\n");
  EXPECT_EQ(ran.exit.value, 9);
}

TEST_P(Provider, Signal_RunningCommand_GetsIt) {
  Command command = shell("trap 'echo caught; exit 7' USR1; echo up; while :; do sleep .02; done");
  command.tag = "contract-signal";
  EXPECT_EQ(box.signal(command.tag, SIGUSR1).error().fault, Fault::not_found);
  bool sent = false;
  command.on_output = [&](std::string_view) {
    if (!sent) {
      EXPECT_TRUE(box.signal(command.tag, SIGUSR1));
    }
    sent = true;  // the shell says on stderr that its sleep was signalled as well
  };
  const Ran ran = box.exec(command);
  ASSERT_TRUE(ran.status);
  EXPECT_EQ(ran.exit.value, 7);
}

TEST_P(Provider, Exec_ManyAtOnce_DoNotMix) {
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 5; ++i) {
        const std::string word = std::to_string(t) + "-" + std::to_string(i);
        Command command = shell("echo " + word);
        command.tag = "contract-many-" + word;
        right += box.exec(command).out == word + "\n";
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, 20);
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Contract, Provider, ::testing::ValuesIn(kProviders),
                         [](const auto& param) { return param.param; });

}  // namespace sandglass::contract
