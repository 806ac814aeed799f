// The checker of leftovers notices each kind, names it, and lets alone what is clean.
#include <gmock/gmock.h>

#include <filesystem>
#include <string>

#include "support/command.h"
#include "support/temp_dir.h"

namespace sandglass::testing {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

Output leak(const std::string& test, const std::string& shared = "/nonexistent") {
  return Command({LEAKS, "--gtest_filter=" + test})
      .env("SANDGLASS_TEST_GRACE_MS", "300")
      .env("SANDGLASS_TEST_SHARED_DIR", shared)
      .run();
}

struct Kind {
  const char* test;
  const char* text;  // a regular expression
};
std::ostream& operator<<(std::ostream& out, const Kind& kind) {
  return out << kind.test;
}
class LeftoversOf : public ::testing::TestWithParam<Kind> {};

TEST_P(LeftoversOf, OneLeft_FailsAndIsNamed) {
  const Output run = leak(GetParam().test);
  EXPECT_EQ(run.code, 1) << run.out << run.err;
  EXPECT_THAT(run.out, ContainsRegex(std::string("left behind: ") + GetParam().text));
  EXPECT_THAT(run.out, HasSubstr("1 FAILED TEST"));
}
INSTANTIATE_TEST_SUITE_P(
    Kinds, LeftoversOf,
    ::testing::Values(Kind{"Leaks.Process", "process [0-9]+: .*leaks --gtest_filter"},
                      Kind{"Leaks.Zombie", "process [0-9]+, a zombie: leaks"},
                      Kind{"Leaks.Orphan", "process [0-9]+: sleep 300"},
                      Kind{"Leaks.Descriptor", "descriptor [0-9]+: /dev/null"},
                      Kind{"Leaks.Thread", "thread [0-9]+: forgotten"},
                      Kind{"Leaks.File", "file /.*/forgotten"},
                      Kind{"Given.Closed", "descriptor [0-9]+ was closed, .*: /dev/null"}),
    [](const auto& one) {
      std::string name = one.param.test;
      name.replace(name.find('.'), 1, "_");
      return name;
    });

TEST(Leftovers, FileInASharedDirectory_FailsAndIsNamed) {
  const TempDir shared;
  const Output run = leak("Leaks.FileOutside", shared.path());
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.out, HasSubstr("left behind: file " + (shared / "sandglass-forgotten")));
}

TEST(LeftoversClean, NothingLeftOrEndingOrExcused_Passes) {
  const Output run = leak("Clean.Nothing:Clean.EndsSoon:Clean.Excused");
  EXPECT_EQ(run.code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("leaves something behind: it is to be shown"));
}

TEST(LeftoversClean, ExcuseOfOneTest_IsNotTheNexts) {
  const Output run = leak("Clean.Excuse*");
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.out, HasSubstr("[  FAILED  ] Clean.ExcuseEnds"));
  EXPECT_THAT(run.out, HasSubstr("[       OK ] Clean.Excused"));
}

Output script(const std::string& text) {
  return Command({LEFTOVERS, "sh", "-c", text}).env("SANDGLASS_TEST_GRACE_MS", "300").run();
}

TEST(LeftoversProgram, CleanCommand_ItsExitCode) {
  EXPECT_EQ(script("exit 0").code, 0);
  EXPECT_EQ(script("exit 7").code, 7);
  EXPECT_EQ(script("kill -9 $$").code, 128 + 9);
  EXPECT_EQ(Command({LEFTOVERS, "/nonexistent/program"}).run().code, 127);
}

TEST(LeftoversProgram, ProcessLeft_FailsNamesAndEndsIt) {
  const Output run = script("setsid sleep 300 >/dev/null 2>&1 & echo $!");
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.err, HasSubstr("left behind: process " + run.out.substr(0, run.out.size() - 1)));
  EXPECT_THAT(run.err, HasSubstr(": sleep 300"));
  EXPECT_FALSE(std::filesystem::exists("/proc/" + run.out.substr(0, run.out.size() - 1)));
}

TEST(LeftoversProgram, FileLeft_FailsNamesAndRemovesIt) {
  const Output run = script("mkdir \"$TMPDIR/kept\" && echo \"$TMPDIR\"");
  EXPECT_EQ(run.code, 1);
  const std::string directory = run.out.substr(0, run.out.size() - 1);
  EXPECT_THAT(run.err, HasSubstr("left behind: " + directory + "/kept"));
  EXPECT_FALSE(std::filesystem::exists(directory));
}

TEST(LeftoversProgram, FilesOfTheUser_AreTheTests) {
  const Output run = script("test \"$TMPDIR\" = \"$XDG_STATE_HOME\" && test -d \"$TMPDIR\"");
  EXPECT_EQ(run.code, 0);
  EXPECT_THAT(run.err, Not(HasSubstr("left behind")));
}

}  // namespace
}  // namespace sandglass::testing
