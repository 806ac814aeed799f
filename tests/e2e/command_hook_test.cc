// The hook `command`: any program reacts to events, and nothing it does breaks the run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <sstream>

#include "e2e/product.h"

namespace sandglass::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class CommandHook : public ::testing::Test {
 protected:
  // One hook on every file event, and a second that must get its events whatever the first does.
  Ran run(const std::string& with, const std::string& script, const std::string& timeout = "10s") {
    product.dir().write(
        "c.yaml",
        "version: 1\nsandboxes:\n  t:\n    hooks:\n      onFile:\n        - {use: command, name: "
        "tried, with: " +
            with + ", timeout: " + timeout +
            "}\n        - {use: command, name: other, with: {run: [sh, -c, \"cat >> " +
            product.dir().path() + "/other\"]}}\n");
    return product.run(script, {"--config", product.dir() / "c.yaml"});
  }
  std::vector<nlohmann::json> lines_of(const std::string& file) {
    std::vector<nlohmann::json> out;
    std::istringstream in(product.dir().read(file));
    for (std::string line; std::getline(in, line);) out.push_back(nlohmann::json::parse(line));
    return out;
  }
  void expect_other_got(size_t count) { EXPECT_EQ(lines_of("other").size(), count); }
  Product product;
};

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) n++;
  return n;
}

TEST_F(CommandHook, Event_ComesAsOneJsonLine_WithContentsAsAsked) {  // H9
  product.repository("echo 1 > f");
  product.commit_all();
  const Ran ran = run("{run: [sh, -c, \"cat >> " + product.dir().path() +
                          "/got\"], include: [before, after, diff]}",
                      "echo 2 > f");
  EXPECT_EQ(ran.output.code, 0);
  const auto lines = lines_of("got");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].at("type"), "change");
  EXPECT_EQ(lines[0].at("path"), "/workspace/f");
  EXPECT_EQ(lines[0].at("before").at("text"), "1\n");
  EXPECT_EQ(lines[0].at("after").at("text"), "2\n");
  EXPECT_THAT(lines[0].at("diff").at("text").get<std::string>(), HasSubstr("-1\n+2\n"));
}

TEST_F(CommandHook, FailingProgram_IsOneErrorEach_RunAndOthersGoOn) {  // C4, H4
  const Ran ran = run("{run: [sh, -c, \"echo why >&2; exit 7\"]}", "echo 1 > a");
  EXPECT_EQ(ran.output.code, 0);
  EXPECT_EQ(count(ran.output.err, "error: "), 1u) << ran.output.err;
  EXPECT_THAT(ran.output.err, HasSubstr("tried"));
  EXPECT_THAT(ran.output.err, HasSubstr("exit code 7: why"));
  expect_other_got(1);
}

TEST_F(CommandHook, KilledProgram_IsNamedWithItsSignal) {                  // C4
  const Ran ran = run("{run: [sh, -c, \"kill -9 $$$$\"]}", "echo 1 > a");  // $$ is one $ in YAML
  EXPECT_EQ(ran.output.code, 0);
  EXPECT_THAT(ran.output.err, HasSubstr("ended by signal 9"));
  expect_other_got(1);
}

TEST_F(CommandHook, MissingProgram_IsSaid) {
  const Ran ran = run("{run: [no-such-program]}", "echo 1 > a");
  EXPECT_THAT(ran.output.err, HasSubstr("'no-such-program' was not found"));
  expect_other_got(1);
}

TEST_F(CommandHook, HangingProgram_IsEndedWithItsTree_LaterEventsComeStill) {  // C2, H5
  const auto began = std::chrono::steady_clock::now();
  const Ran ran =
      run("{run: [sh, -c, \"sleep 4321 & sleep 4321\"]}", "echo 1 > a; echo 2 > b", "300ms");
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));
  EXPECT_EQ(ran.output.code, 0);
  EXPECT_GE(count(ran.output.err, "tried"), 1u) << ran.output.err;
  EXPECT_THAT(ran.output.err, HasSubstr("time limit"));
  expect_other_got(2);
  EXPECT_EQ(shell("pgrep -fx 'sleep 4321' || true", "/").out, "");
}

TEST_F(CommandHook, HundredMegabytesOfOutput_AreDrained) {  // C4, E3
  const Ran ran =
      run("{run: [sh, -c, \"head -c 100000000 /dev/zero | tr '\\\\0' x\"]}", "echo 1 > a", "60s");
  EXPECT_EQ(ran.output.code, 0);
  EXPECT_THAT(ran.output.err, Not(HasSubstr("error: ")));
  expect_other_got(1);
}

TEST_F(CommandHook, ProgramThatDoesNotRead_DoesNotHurt) {  // C4: SIGPIPE
  product.sh("seq 200000 > big");
  const Ran ran = run("{run: [\"true\"], include: [after]}", "echo 1 >> big");
  EXPECT_EQ(ran.output.code, 0);
  EXPECT_THAT(ran.output.err, Not(HasSubstr("error: "))) << ran.output.err;
  expect_other_got(1);
}

TEST_F(CommandHook, LongLastLine_IsCutBetweenCharacters) {  // E1
  const Ran ran = run("{run: [sh, -c, \"printf x; printf '\xe2\x82\xac%.0s' $(seq 200); exit 7\"]}",
                      "echo 1 > a");
  EXPECT_THAT(ran.output.err, HasSubstr("exit code 7: x\xe2\x82\xac"));
  EXPECT_THAT(ran.output.err, Not(HasSubstr("\\x")));
}

TEST_F(CommandHook, BareNumberAsTimeout_IsRefused) {  // C3
  const Ran ran = run("{run: [\"true\"]}", "true", "2000");
  EXPECT_EQ(ran.output.code, 125);
  EXPECT_THAT(ran.output.err, HasSubstr("timeout"));
}

}  // namespace
}  // namespace sandglass::testing
