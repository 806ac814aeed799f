// Case P7 in the product: whatever a plugin does, the command runs to its end, the other hooks get
// their events, and sandglass ends in time with the command's exit code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "e2e/product.h"

namespace sandglass::testing {
namespace {

using ::testing::HasSubstr;

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) n++;
  return n;
}

class PluginFaults : public ::testing::Test {
 protected:
  // The command writes three files and ends with 5; the hook `command` must get each.
  Output run(const std::string& plugin, const std::string& with) {
    const std::string folder = product.dir() / "plugins";
    std::filesystem::create_directory(folder);
    std::filesystem::copy_file(std::string(SANDGLASS_BAD_PLUGIN_DIR) + "/" + plugin + ".so",
                               folder + "/" + plugin + ".so");
    product.dir().write(
        "c.yaml",
        "version: 1\nsandboxes:\n  t:\n    hooks:\n      onFileCreate:\n        - {use: " + plugin +
            ", name: tried, with: " + with +
            ", timeout: 300ms}\n        - {use: command, name: other, with: {run: "
            "[sh, -c, \"cat >> " +
            product.dir().path() + "/other\"]}}\n");
    began_ = std::chrono::steady_clock::now();
    Output done = product
                      .sandglass({"run", "--config", product.dir() / "c.yaml", "--", "sh", "-c",
                                  "for f in a b c; do echo 1 > $f; sleep .1; done; exit 5"})
                      .env("SANDGLASS_PLUGIN_PATH", folder)
                      .run();
    EXPECT_LT(std::chrono::steady_clock::now() - began_, std::chrono::seconds(25));
    return done;
  }
  void expect_served(const Output& done) {
    EXPECT_EQ(done.code, 5) << done.err;
    EXPECT_EQ(count(product.dir().read("other"), "\n"), 3u) << done.err;
  }
  Product product;

 private:
  std::chrono::steady_clock::time_point began_;
};

TEST_F(PluginFaults, EndsTheProcess_IsOneErrorAndTheRestGoesOn) {  // P7
  const Output done = run("exits", "{in: on_event, by: exit}");
  expect_served(done);
  EXPECT_EQ(count(done.err, "error: "), 1u) << done.err;
  EXPECT_THAT(done.err, HasSubstr("exits.so) called exit(3)"));
  EXPECT_THAT(done.err, HasSubstr("tried"));
}

TEST_F(PluginFaults, EndsTheProcessWhereItIsAsked_TheRestGoesOn) {  // P7
  for (const char* in : {"interests", "destroy"}) {
    const Output done = run("exits", std::string("{in: ") + in + ", by: _exit}");
    expect_served(done);
    EXPECT_EQ(count(done.err, "error: "), 1u) << done.err;
    EXPECT_THAT(done.err, HasSubstr("called _exit(3)"));
    std::filesystem::remove_all(product.dir() / "plugins");
    std::filesystem::remove(product.dir() / "other");
    for (const char* f : {"a", "b", "c"}) std::filesystem::remove(product.workspace() + "/" + f);
  }
}

TEST_F(PluginFaults, EndsTheProcessOnItsOwnThread_ThePluginIsNamed) {  // P7
  const Output done = run("exits", "{in: thread, by: exit}");
  expect_served(done);
  EXPECT_EQ(count(done.err, "exits.so called exit(3) on a thread of its own"), 1u) << done.err;
}

TEST_F(PluginFaults, EndsTheProcessInCreate_IsAFaultNotAnEnd) {  // P7
  const Output done = run("exits", "{in: create, by: exit}");
  EXPECT_EQ(done.code, 125);
  EXPECT_THAT(done.err, HasSubstr("could not start"));
  EXPECT_THAT(done.err, HasSubstr("called exit(3)"));
}

TEST_F(PluginFaults, Throws_IsOneErrorEachAndTheRestGoesOn) {  // P7, H4
  const Output done = run("throws", "{in: on_event}");
  expect_served(done);
  EXPECT_EQ(count(done.err, "error: "), 3u) << done.err;
  EXPECT_THAT(done.err, HasSubstr("throws.so) threw an exception"));
}

TEST_F(PluginFaults, BlocksAMinute_IsLeftBehindAndShutdownDoesNotWait) {  // P7, H5
  for (const char* in : {"on_event", "destroy"}) {
    const Output done = run("blocks", std::string("{in: ") + in + "}");
    expect_served(done);
    EXPECT_EQ(count(done.err, "thread is left behind"), 1u) << done.err;
    std::filesystem::remove_all(product.dir() / "plugins");
    std::filesystem::remove(product.dir() / "other");
    for (const char* f : {"a", "b", "c"}) std::filesystem::remove(product.workspace() + "/" + f);
  }
}

TEST_F(PluginFaults, EndsTheProcessWhileLoaded_OthersAreListed) {  // P7
  const Output done = product.sandglass({"plugin", "list"})
                          .env("SANDGLASS_PLUGIN_PATH", SANDGLASS_BAD_PLUGIN_DIR)
                          .run();
  EXPECT_THAT(done.out + done.err, HasSubstr("calls exit(3) while it is loaded"));
  EXPECT_THAT(done.out + done.err, HasSubstr("hook good"));
}

}  // namespace
}  // namespace sandglass::testing
