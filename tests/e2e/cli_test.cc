// What a user meets: exit codes, streams, errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "e2e/product.h"

namespace sandglass::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(Cli, Run_OutputPassesThrough_TalkGoesToStderr) {  // G2
  Product product;
  const Output done =
      product.sandglass({"run", "--", "sh", "-c", "echo out; echo err >&2; echo x > f"}).run();
  EXPECT_EQ(done.code, 0);
  EXPECT_EQ(done.out, "out\n");
  EXPECT_THAT(done.err, HasSubstr("err\n"));
  EXPECT_THAT(done.err, HasSubstr("create  f"));
  EXPECT_THAT(done.err, HasSubstr("exit 0: 1 file, +1 -0"));
}

TEST(Cli, Run_ExitCodes_AreTheCommandsOwn) {  // E8
  Product product;
  EXPECT_EQ(product.sandglass({"run", "--", "sh", "-c", "exit 7"}).run().code, 7);
  EXPECT_EQ(product.sandglass({"run", "--", "sh", "-c", "kill -TERM $$"}).run().code, 128 + 15);
  EXPECT_EQ(product.sandglass({"run", "--timeout", "300ms", "--", "sleep", "60"}).run().code, 124);
  const Output missing = product.sandglass({"run", "--", "no-such-program"}).run();
  EXPECT_EQ(missing.code, 125);
  EXPECT_THAT(missing.err, HasSubstr("not_found: cannot run no-such-program"));
  EXPECT_EQ(product.sandglass({"run"}).run().code, 125);
  EXPECT_EQ(product.sandglass({"run", "--nosuch", "--", "true"}).run().code, 125);
  EXPECT_EQ(product.sandglass({"diff", "--nosuch"}).run().code, 2);
  EXPECT_EQ(product.sandglass({"run", "--sandbox", "nope", "--", "true"}).run().code, 125);
}

TEST(Cli, Run_Input_ReachesTheCommand) {
  Product product;
  const Output done = product.sandglass({"run", "--", "cat"}).input("hello").run();
  EXPECT_EQ(done.out, "hello");
  EXPECT_EQ(done.code, 0);
}

TEST(Cli, Run_Environment_IsSetInside) {
  Product product;
  const Output done =
      product.sandglass({"run", "--env", "A=1", "--env", "B=x y", "--", "sh", "-c", "echo $A $B"})
          .run();
  EXPECT_EQ(done.out, "1 x y\n");
}

TEST(Cli, RunJson_Stream_IsStrictAgUi) {  // S1, S2, S4
  Product product;
  product.repository();
  product.commit_all();
  const Ran ran = product.run(
      "printf '\\342\\202'; sleep 0.1; printf '\\254\\n'; echo x > f; exit 3", {"--diff"});
  EXPECT_EQ(ran.output.code, 3);
  ASSERT_GE(ran.lines.size(), 4u);
  EXPECT_EQ(ran.lines.front().at("type"), "RUN_STARTED");
  EXPECT_FALSE(ran.lines.front().at("threadId").get<std::string>().empty());
  EXPECT_EQ(ran.lines.back().at("type"), "RUN_FINISHED");
  EXPECT_EQ(ran.lines.back().at("runId"), ran.lines.front().at("runId"));
  EXPECT_EQ(ran.lines.back().at("result").at("exitCode"), 3);
  EXPECT_TRUE(ran.lines.back().at("outcome").is_object());
  std::string output;
  for (size_t i = 1; i + 1 < ran.lines.size(); i++) {
    EXPECT_EQ(ran.lines[i].at("type"), "CUSTOM");
    if (ran.lines[i].at("name") == "sandbox.output")
      output += ran.lines[i].at("value").at("text").get<std::string>();
    if (ran.lines[i].at("name") == "sandbox.file") {
      EXPECT_EQ(ran.lines[i + 1].at("name"), "sandbox.file.diff");
    }
  }
  EXPECT_EQ(output, "\xe2\x82\xac\n");  // E1: a character split across reads stays whole
  ASSERT_EQ(ran.files.size(), 1u);
  EXPECT_EQ(ran.files[0].value.at("path"), "/workspace/f");  // E2
  EXPECT_GT(ran.files[0].value.at("timestamp").get<int64_t>(), 1'600'000'000'000);
}

TEST(Cli, Events_Journal_HoldsWhatTheStreamSaid) {  // E2, E3
  Product product;
  const Ran ran = product.run("echo 1 > a; echo 2 > b; rm a");
  const Ran journal = Product::taken_apart(product.sandglass({"events", "--json"}).run());
  EXPECT_EQ(journal.files, ran.files);
  uint64_t seq = 0;
  for (const auto& line : journal.lines)
    EXPECT_EQ(line.at("value").at("seq").get<uint64_t>(), ++seq);
  const std::string human = product.sandglass({"events"}).run().out;
  for (const char* word : {"ready", "run_start", "create", "run_end", "destroy"})
    EXPECT_THAT(human, HasSubstr(word));
}

TEST(Cli, Status_AfterARun_SaysDestroyed) {
  Product product;
  product.run("echo 1 > a");
  const auto status = nlohmann::json::parse(product.sandglass({"status", "--json"}).run().out);
  ASSERT_EQ(status.at("sandboxes").size(), 1u);
  const auto& one = status.at("sandboxes")[0];
  EXPECT_EQ(one.at("state"), "destroyed");
  EXPECT_EQ(one.at("running"), false);
  EXPECT_EQ(one.at("fileEvents"), 1);
  EXPECT_EQ(one.at("workspace"), std::filesystem::canonical(product.workspace()).string());
}

TEST(Cli, NothingRecorded_IsSaidWithTheCure) {
  Product product;
  const Output done = product.sandglass({"diff"}).run();
  EXPECT_EQ(done.code, 3);
  EXPECT_THAT(done.err, StartsWith("not_found: "));
  EXPECT_THAT(done.err, HasSubstr("sandglass run --"));
}

TEST(Cli, HomeDirectory_IsRefusedUnlessAskedTwice) {  // W12
  Product product;
  std::filesystem::create_directories(product.dir() / "home");
  const Output run =
      product.sandglass({"run", "--workspace", product.dir() / "home", "--", "true"}).run();
  EXPECT_EQ(run.code, 125);
  EXPECT_THAT(run.err, HasSubstr("--yes-all-of-it"));
  EXPECT_EQ(product
                .sandglass(
                    {"run", "--yes-all-of-it", "--workspace", product.dir() / "home", "--", "true"})
                .run()
                .code,
            0);
  EXPECT_THAT(product.sandglass({"watch", "/"}).run().err, HasSubstr("--yes-all-of-it"));
}

TEST(Cli, StateDirectory_IsPrivate) {  // P1a
  Product product;
  product.run("true");
  const Output mode =
      shell("stat -c %a " + product.state() + "; find " + product.state() + " -type f -perm /077",
            product.workspace());
  EXPECT_EQ(mode.out, "700\n");
}

TEST(Cli, SecondRunInOneDirectory_IsTold) {  // P1a
  Product product;
  const Output done = shell(
      std::string(SANDGLASS) + " --state-dir " + product.state() +
          " run -- sh -c 'touch started; while [ ! -e over ]; do sleep 0.05; done' 2>/dev/null &\n"
          "while [ ! -e started ]; do sleep 0.05; done\n" +
          SANDGLASS + " --state-dir " + product.state() + " run -- touch over; wait",
      product.workspace());
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr("is running in this directory too"));
}

TEST(Cli, Watch_UntilTerm_TellsWhatWasWrittenBefore) {  // O1, W8
  Product product;
  const Output done =
      shell(std::string() + SANDGLASS +
                " watch . --json > ../out & pid=$!\n"
                "while ! grep -q sandbox.ready ../out 2>/dev/null; do sleep 0.02; done\n"
                "echo 1 > a; mkdir d; echo 2 > d/b; kill -TERM $pid; wait $pid; cat ../out",
            product.workspace());
  EXPECT_EQ(done.code, 0) << done.err;
  const Ran ran = Product::taken_apart(done);
  EXPECT_EQ(ran.count("create", "a"), 1u);
  EXPECT_EQ(ran.count("create", "d/b"), 1u);
}

TEST(Cli, Terminal_CommandOwnsIt_SummaryComesAtTheEnd) {
  Product product;
  const Output done = product.sandglass({}).run();  // no subcommand: usage
  EXPECT_EQ(done.code, 2);
  const Output tty = Command({"script", "-qec",
                              std::string(SANDGLASS) + " --state-dir " + product.state() +
                                  " run -- sh -c 'test -t 0 && test -t 1 && echo tty; echo x > f; "
                                  "sleep 0.3; echo last'",
                              "/dev/null"})
                         .in(product.workspace())
                         .run();
  EXPECT_EQ(tty.code, 0) << tty.out;
  EXPECT_THAT(tty.out, HasSubstr("tty"));
  EXPECT_LT(tty.out.find("last"), tty.out.find("create  f"));
}

TEST(Cli, StandardDescriptorsClosed_NothingElseIsWrittenThere) {
  Product product;
  const Output done =
      shell("exec 3>&2; " + std::string(SANDGLASS) + " --state-dir " + product.state() +
                " run --json -- sh -c 'echo hi; echo x > f' <&- >&- 2>&-; echo $?",
            product.workspace());
  EXPECT_EQ(done.out, "0\n");
  const auto status = nlohmann::json::parse(product.sandglass({"status", "--json"}).run().out);
  EXPECT_EQ(status.at("sandboxes")[0].at("state"), "destroyed");
  EXPECT_EQ(status.at("sandboxes")[0].at("fileEvents"), 1);
}

TEST(Cli, UnknownHook_LeavesNoInstanceBehind) {
  Product product;
  product.dir().write("c.yaml", "version: 1\nsandboxes: {t: {hooks: {onFile: nope}}}\n");
  const Output done =
      product.sandglass({"run", "--config", product.dir() / "c.yaml", "--", "true"}).run();
  EXPECT_EQ(done.code, 125);
  EXPECT_THAT(done.err, HasSubstr("nope"));
  EXPECT_TRUE(std::filesystem::is_empty(product.state() + "/instances"));
}

TEST(Cli, PatchOnATerminal_IsHarmless) {  // P3
  Product product;
  product.run("printf 'a\\033]0;title\\007\\n' > f");
  const Output tty =
      Command({"script", "-qec",
               std::string(SANDGLASS) + " --state-dir " + product.state() + " diff", "/dev/null"})
          .in(product.workspace())
          .run();
  EXPECT_THAT(tty.out, HasSubstr("+a\\x1b]0;title\\x07"));
  EXPECT_THAT(product.diff(), HasSubstr("+a\x1b]0;title\x07\n"));
}

TEST(Cli, Help_OfEveryCommand_ExplainsIt) {
  Product product;
  for (const char* command :
       {"run", "watch", "events", "diff", "status", "check", "plugin", "schema", "version"}) {
    const Output done = product.sandglass({command, "--help"}).run();
    EXPECT_EQ(done.code, 0) << command;
    EXPECT_GT(done.out.size(), 100u) << command;
  }
  EXPECT_EQ(product.sandglass({"diff", "--sta"}).run().code, 2);
}

TEST(Cli, PluginList_ShippedPlugins_AreLoaded) {
  Product product;
  const auto list =
      nlohmann::json::parse(product.sandglass({"plugin", "list", "--json"}).run().out);
  std::string types;
  for (const auto& file : list.at("files"))
    for (const auto& type : file.at("types")) types += type.get<std::string>() + ";";
  EXPECT_THAT(types, HasSubstr("hook log"));
  EXPECT_THAT(types, HasSubstr("watcher inotify"));
  EXPECT_THAT(types, HasSubstr("provider local"));
}

}  // namespace
}  // namespace sandglass::testing
