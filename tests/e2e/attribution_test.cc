// Who wrote, through the whole product with the watcher fanotify (rule W11). Needs root.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "e2e/product.h"

namespace sandglass::testing {
namespace {

using ::testing::HasSubstr;

class Attribution : public ::testing::Test {
 protected:
  void SetUp() override {
    write_config("");
    const Ran ran = product.run("true", options());
    if (ran.output.code == 0) return;
    if (ran.output.err.find("fanotify needs CAP_SYS_ADMIN") == std::string::npos &&
        ran.output.err.find("fanotify cannot watch") == std::string::npos)
      FAIL() << ran.output.err;
    GTEST_SKIP() << ran.output.err;
  }
  void write_config(const std::string& hooks) {
    product.dir().write("c.yaml",
                        "version: 1\nsandboxes:\n  t:\n    fileEvents: {watcher: fanotify}\n" +
                            (hooks.empty() ? "" : "    hooks:\n" + hooks));
  }
  std::vector<std::string> options() { return {"--config", product.dir() / "c.yaml"}; }
  Ran run(const std::string& script) { return product.run(script, options()); }
  static nlohmann::json actor(const Ran& ran, const std::string& type, const std::string& path) {
    for (const Seen& seen : ran.files)
      if (seen.type == type && seen.path == path)
        return seen.value.value("actor", nlohmann::json());
    return {};
  }
  static std::string run_id(const Ran& ran) { return ran.lines.front().at("runId"); }
  static bool follows_with_bpf(const Ran& ran) {
    for (const auto& line : ran.lines)
      if (line.value("name", "") == "sandbox.ready")
        return line.at("value").at("watcher").value("processes", "") == "bpf";
    return false;
  }
  Product product;
};

TEST_F(Attribution, Run_HasPidCommandAndRunId) {
  const Ran ran =
      run("echo x > own; mkdir d; cp own d/copied; (setsid sh -c 'echo y > detached'); rm own");
  ASSERT_EQ(ran.output.code, 0) << ran.output.err;
  for (const Seen& seen : ran.files) {
    const auto& actor = seen.value.at("actor");
    EXPECT_EQ(actor.at("kind"), "run") << seen;
    EXPECT_EQ(actor.at("run"), run_id(ran)) << seen;
    EXPECT_EQ(seen.value.at("runId"), run_id(ran)) << seen;
    EXPECT_GT(actor.at("pid"), 1) << seen;
  }
  if (!follows_with_bpf(ran)) return;
  EXPECT_EQ(actor(ran, "create", "d/copied").at("command"), "cp own d/copied");
  EXPECT_EQ(actor(ran, "create", "detached").at("command"), "sh -c echo y > detached");
}

TEST_F(Attribution, JournalAndHook_SayTheSame) {
  write_config("      onFile:\n        - {use: command, with: {run: [sh, -c, \"cat >> " +
               product.dir().path() + "/got\"]}}\n");
  const Ran ran = run("echo x > f");
  ASSERT_EQ(ran.output.code, 0) << ran.output.err;
  const auto told = actor(ran, "create", "f");
  ASSERT_TRUE(told.is_object());
  const std::string got = product.dir().read("got");
  EXPECT_EQ(nlohmann::json::parse(got.substr(0, got.find('\n'))).at("actor"), told);
  const Ran events = Product::taken_apart(product.sandglass({"events", "--json"}).run());
  EXPECT_EQ(actor(events, "create", "f"), told);
}

TEST_F(Attribution, SomebodyElse_IsOutside) {
  std::thread other([&] {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!std::filesystem::exists(product.workspace() + "/go")) {
      if (std::chrono::steady_clock::now() > end) return;
      std::this_thread::yield();
    }
    product.sh("echo x > foreign");
  });
  const Ran ran = run("echo > go; while [ ! -e foreign ]; do sleep 0.01; done");
  other.join();
  ASSERT_EQ(ran.output.code, 0) << ran.output.err;
  const auto told = actor(ran, "create", "foreign");
  ASSERT_TRUE(told.is_object());
  EXPECT_EQ(told.at("kind"), "outside");
  EXPECT_FALSE(told.contains("run"));
  EXPECT_EQ(actor(ran, "create", "go").at("kind"), "run");
}

TEST_F(Attribution, HookThatWrites_IsHook) {  // H8, C1
  write_config(
      "      onFileCreate:\n        - {use: command, with: {run: [sh, -c, \"cat > /dev/null; [ -e "
      "by-hook ] || echo x > by-hook\"]}}\n");
  const Ran ran = run("echo x > f; while [ ! -e by-hook ]; do sleep 0.01; done");
  ASSERT_EQ(ran.output.code, 0) << ran.output.err;
  EXPECT_EQ(actor(ran, "create", "f").at("kind"), "run");
  const auto told = actor(ran, "create", "by-hook");
  ASSERT_TRUE(told.is_object());
  EXPECT_EQ(told.at("kind"), "hook");
}

// 2,000 programs that live for a millisecond: under BPF each is known by its command.
TEST_F(Attribution, ShortLivedWriters_AllHaveTheirCommand) {
  const Ran ran = run("i=0; while [ $i -lt 1000 ]; do /bin/touch t$i; (: > s$i); i=$((i+1)); done");
  ASSERT_EQ(ran.output.code, 0) << ran.output.err;
  ASSERT_EQ(ran.files.size(), 2000u);
  size_t with_command = 0;
  for (const Seen& seen : ran.files) {
    const auto& actor = seen.value.at("actor");
    EXPECT_EQ(actor.at("run"), run_id(ran));
    const std::string expected = seen.path[0] == 't' ? "/bin/touch " + seen.path : "sh -c i=0";
    with_command += actor.value("command", "").starts_with(expected);
  }
  std::printf("%zu of 2000 with their command\n", with_command);
  if (follows_with_bpf(ran)) {
    EXPECT_EQ(with_command, 2000u);
  }
}

TEST_F(Attribution, WithoutRights_AnotherWatches_AndWhatIsMissingIsSaid) {
  auto arguments = std::vector<std::string>{"unshare",
                                            "-U",
                                            SANDGLASS,
                                            "--state-dir",
                                            product.dir() / "other",
                                            "run",
                                            "--config",
                                            product.dir() / "c.yaml",
                                            "--",
                                            "true"};
  const Output out =
      Command(arguments).in(product.workspace()).env("HOME", product.dir() / "home").run();
  if (out.err.find("unshare:") != std::string::npos) GTEST_SKIP() << out.err;
  EXPECT_EQ(out.code, 0) << out.err;
  EXPECT_THAT(out.err, HasSubstr("watching by inotify, not by fanotify: "));
  EXPECT_THAT(out.err, HasSubstr("fanotify needs CAP_SYS_ADMIN in the first user namespace"));
}

}  // namespace
}  // namespace sandglass::testing
