// Configuration as its user meets it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "e2e/product.h"

namespace sandglass::testing {
namespace {

using ::testing::HasSubstr;

std::string yaml(const std::string& body) {
  return "version: 1\nsandboxes:\n  t:\n" + body;
}

TEST(Config, Check_EveryMistake_IsSaidInOneGo) {  // Y1, D5
  Product product;
  product.dir().write("c.yaml", yaml("    provder: local\n    fileEvents: {interval: 700}\n"));
  const Output done = product.sandglass({"check", product.dir() / "c.yaml"}).run();
  EXPECT_EQ(done.code, 2);
  EXPECT_THAT(done.err, HasSubstr("c.yaml:4:5: "));
  EXPECT_THAT(done.err, HasSubstr("\"provider\""));
  EXPECT_THAT(done.err, HasSubstr("interval"));
  EXPECT_EQ(
      product.sandglass({"run", "--config", product.dir() / "c.yaml", "--", "true"}).run().code,
      125);
}

TEST(Config, Check_UnknownPluginAndItsOptions_AreNamed) {
  Product product;
  product.dir().write(
      "c.yaml", yaml("    hooks:\n      onFile: [{use: lgo}, {use: log, with: {dif: true}}]\n"));
  const Output done = product.sandglass({"check", product.dir() / "c.yaml"}).run();
  EXPECT_EQ(done.code, 2);
  EXPECT_THAT(done.err, HasSubstr("lgo"));
  EXPECT_THAT(done.err, HasSubstr("dif"));
}

TEST(Config, AWorkspacesOwnFile_IsNeverRead) {  // D7
  Product product;
  product.sh(
      "printf 'version: 1\\nplugins: [{file: ./evil.so}]\\n' > sandglass.yaml; cp sandglass.yaml "
      ".sandglass.yaml");
  const Output done = product.sandglass({"run", "--", "true"}).run();
  EXPECT_EQ(done.code, 0);
  EXPECT_EQ(done.err.find("evil"), std::string::npos) << done.err;
}

TEST(Config, FileEventsOff_NoEventButLifecycle) {  // D2
  Product product;
  product.dir().write("c.yaml",
                      yaml("    fileEvents: false\n    hooks: {onReady: log, onDestroy: log}\n"));
  const Ran ran = product.run("echo x > f", {"--config", product.dir() / "c.yaml"});
  EXPECT_EQ(ran.output.code, 0) << ran.output.err;
  EXPECT_TRUE(ran.files.empty());
  EXPECT_THAT(ran.output.err, HasSubstr("ready"));
  EXPECT_THAT(ran.output.err, HasSubstr("destroy"));
}

TEST(Config, FileEventsDiff_AddsOneDiffPerEvent) {  // D2, S1
  Product product;
  product.dir().write("c.yaml", yaml("    fileEvents: {diff: true}\n"));
  const Ran ran = product.run("echo x > f", {"--config", product.dir() / "c.yaml"});
  size_t diffs = 0;
  for (const auto& line : ran.lines) diffs += line.value("name", "") == "sandbox.file.diff";
  EXPECT_EQ(diffs, ran.files.size());
  EXPECT_EQ(diffs, 1u);
}

TEST(Config, NamedSandbox_HeldElsewhere_IsAClearError) {  // P1a
  Product product;
  product.dir().write("c.yaml", yaml("    provider: local\n"));
  const std::string run =
      std::string(SANDGLASS) + " --state-dir " + product.state() + " run --config ../c.yaml -- ";
  const Output done =
      shell(run +
                "sh -c 'touch started; while [ ! -e over ]; do sleep 0.05; done' 2>/dev/null &\n"
                "while [ ! -e started ]; do sleep 0.05; done\n" +
                run + "true || echo $?; touch over; wait",
            product.workspace());
  EXPECT_THAT(done.out, HasSubstr("125"));
  EXPECT_THAT(done.err, HasSubstr("busy: sandbox t-"));
  EXPECT_THAT(done.err, HasSubstr("is in use by another sandglass process"));
}

// Debug lines on stderr of a run that makes one file, with these options and this `debug:`.
std::string debugged(const std::vector<std::string>& options, const std::string& debug = "") {
  Product product;
  std::vector<std::string> all = options;
  if (!debug.empty()) {
    product.dir().write(
        "c.yaml", "version: 1\ndebug: " + debug + "\nsandboxes: {t: {hooks: {onFile: log}}}\n");
    all.insert(all.end(), {"--config", product.dir() / "c.yaml"});
  }
  const Ran ran = product.run("echo x > f", all);
  EXPECT_EQ(ran.output.code, 0) << ran.output.err;
  EXPECT_EQ(ran.files.size(), 1u);  // and stdout holds nothing but JSON lines
  return ran.output.err;
}

TEST(Config, Debug_Off_NoDebugLine) {  // G1
  EXPECT_EQ(debugged({}).find("  ["), std::string::npos);
  EXPECT_EQ(debugged({}, "{sandbox: false}").find("  ["), std::string::npos);
}

TEST(Config, Debug_SandboxCategory_ShowsWatcherDispatchAndLifecycle) {  // G1, L1
  for (const std::string& text :
       {debugged({"--debug", "sandbox"}), debugged({}, "{sandbox: true}")}) {
    EXPECT_THAT(text, HasSubstr("arming -ok-> ready"));
    EXPECT_THAT(text, HasSubstr(": watcher inotify started on "));
    EXPECT_THAT(text, HasSubstr(": watcher inotify stopped"));
    EXPECT_THAT(text, HasSubstr("[sandbox] hook log gets event "));
    EXPECT_EQ(text.find("[watch]"), std::string::npos);
    EXPECT_EQ(text.find("[plugin]"), std::string::npos);
  }
}

TEST(Config, Debug_All_ShowsEveryCategory) {  // G1
  for (const std::string& text : {debugged({"--debug", "all"}), debugged({}, "true")})
    for (const char* category : {"[sandbox] ", "[watch] "}) EXPECT_THAT(text, HasSubstr(category));
  EXPECT_THAT(debugged({"--debug", "all"}), HasSubstr("[plugin] loaded "));
}

TEST(Config, Debug_UnknownCategory_ListsTheKnown) {  // G1
  Product product;
  const Output run = product.sandglass({"--debug", "sandbx", "run", "--", "true"}).run();
  EXPECT_EQ(run.code, 125);
  EXPECT_THAT(run.err, HasSubstr("no debug category sandbx; there are errors, sandbox, watch, "
                                 "plugin, all, "));
  EXPECT_THAT(run.err, HasSubstr("log"));
  EXPECT_EQ(product.sandglass({"--debug", "sandbx", "status"}).run().code, 2);
  EXPECT_EQ(product.sandglass({"--debug", "log", "status"}).run().code, 0);
}

TEST(Config, UnderSystemd_LinesCarryPriorities) {  // G2
  Product product;
  const Output done =
      shell("JOURNAL_STREAM=$(stat -L -c %d:%i /proc/self/fd/2) exec " + std::string(SANDGLASS) +
                " --state-dir " + product.state() + " --debug sandbox run -- sh -c 'echo x > f'",
            product.workspace());
  EXPECT_EQ(done.code, 0);
  EXPECT_THAT(done.err, HasSubstr("<7>[sandbox] "));
  EXPECT_THAT(done.err, HasSubstr("<6>create  f"));
}

}  // namespace
}  // namespace sandglass::testing
