// `sandglass restore`, through the whole product.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "e2e/product.h"

namespace sandglass::testing {
namespace {

using ::testing::HasSubstr;

class Restore : public ::testing::Test {
 protected:
  void SetUp() override {
    product_.repository(
        "printf 'one\\n' > kept; printf 'two\\n' > edited; printf 'three\\n' > gone; ln -s kept "
        "link; mkdir -p d/e; echo deep > d/e/f; printf '#!/bin/sh\\n' > tool; chmod +x tool");
    product_.commit_all();
  }
  Output restore(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "restore");
    return product_.sandglass(arguments).run();
  }
  std::string status() { return product_.git("status --porcelain").out; }
  std::string bytes(const std::string& path) { return product_.dir().read("repo/" + path); }

  Product product_;
};

TEST_F(Restore, EverythingThatAnAgentDoes_IsUndone) {
  const Ran ran = product_.run(
      "echo x >> edited; rm gone; ln -sfn gone link; rm -r d; echo file > d; chmod -x tool; mkdir "
      "-p new/deep; echo n > new/deep/n; printf 'a\\0b' > 'odd \"name'; rm kept; mkdir kept; echo "
      "in > kept/in");
  ASSERT_EQ(ran.output.code, 0) << ran.output.err;
  ASSERT_NE(status(), "");
  const Output dry = restore({"--dry-run", "."});
  EXPECT_EQ(dry.code, 0) << dry.err;
  EXPECT_THAT(dry.out, HasSubstr("  would be restored  edited\n"));
  EXPECT_THAT(dry.out, HasSubstr("  would be removed  new/deep/n\n"));
  ASSERT_NE(status(), "");
  const Output done = restore({"."});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_EQ(status(), "") << done.out << done.err;
  EXPECT_FALSE(std::filesystem::exists(product_.workspace() + "/new"));
  EXPECT_EQ(product_.diff(), "");
  EXPECT_THAT(restore({"."}).err, HasSubstr("nothing to do"));
}

TEST_F(Restore, IsAnEventWithTheHostAsItsActor) {
  ASSERT_EQ(product_.run("echo x >> edited; echo n > new").output.code, 0);
  ASSERT_EQ(restore({"edited", "/workspace/new"}).code, 0);
  const Ran told = Product::taken_apart(product_.sandglass({"events", "--json"}).run());
  std::vector<nlohmann::json> by_host;
  for (const Seen& seen : told.files)
    if (seen.value.contains("actor") && seen.value["actor"]["kind"] == "host")
      by_host.push_back(seen.value);
  ASSERT_EQ(by_host.size(), 2u);
  EXPECT_EQ(by_host[0]["type"], "delete");
  EXPECT_EQ(by_host[0]["path"], "/workspace/new");
  EXPECT_EQ(by_host[1]["type"], "change");
  EXPECT_EQ(by_host[1]["path"], "/workspace/edited");
}

TEST_F(Restore, ChangedAfterTheLastLook_IsRefusedUnlessForced) {
  ASSERT_EQ(product_.run("echo x >> edited; echo n > new").output.code, 0);
  product_.sh("echo mine >> edited; echo mine >> new");
  const Output refused = restore({"."});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("refused  edited: it was changed at "));
  EXPECT_THAT(refused.err, HasSubstr("--force"));
  EXPECT_EQ(bytes("edited"), "two\nx\nmine\n");
  EXPECT_EQ(bytes("new"), "n\nmine\n");
  EXPECT_EQ(restore({"--force", "edited"}).code, 0);
  EXPECT_EQ(bytes("edited"), "two\n");
  EXPECT_EQ(bytes("new"), "n\nmine\n");
}

TEST_F(Restore, DirtyAtTheStart_IsDirtyAgain) {  // B3
  product_.sh("echo mine >> edited; echo mine > untracked; rm gone");
  ASSERT_EQ(product_.run("echo x > edited; echo x > untracked; echo x > gone").output.code, 0);
  const Output done = restore({"."});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_EQ(bytes("edited"), "two\nmine\n");
  EXPECT_EQ(bytes("untracked"), "mine\n");
  EXPECT_FALSE(std::filesystem::exists(product_.workspace() + "/gone"));
}

TEST_F(Restore, OneRun_TouchesOnlyWhatItChanged) {
  const Ran first = product_.run("echo 1 >> edited");
  product_.sh("echo by hand >> gone");
  ASSERT_EQ(first.output.code, 0);
  std::string run;
  for (const auto& line : first.lines)
    if (line.value("type", "") == "RUN_STARTED") run = line.at("runId");
  ASSERT_NE(run, "");
  EXPECT_EQ(restore({"--run", run}).code, 0);
  EXPECT_EQ(bytes("edited"), "two\n");
  EXPECT_EQ(bytes("gone"), "three\nby hand\n");
  const Output unknown = restore({"--run", "run-none"});
  EXPECT_NE(unknown.code, 0);
  EXPECT_THAT(unknown.err, HasSubstr("has no run run-none"));
}

TEST_F(Restore, DirectoryWithOtherThings_IsLeftAndSaid) {
  ASSERT_EQ(
      product_.run("rm kept; mkdir -p kept/node_modules; echo m > kept/node_modules/m").output.code,
      0);
  const Output done = restore({"kept"});
  EXPECT_EQ(done.code, 1);
  EXPECT_THAT(done.err, HasSubstr("a directory with other things in it"));
  EXPECT_EQ(bytes("kept/node_modules/m"), "m\n");
}

TEST_F(Restore, AskedForNothing_OrForWhatWasNeverTouched_SaysSo) {
  ASSERT_EQ(product_.run("echo x >> edited").output.code, 0);
  EXPECT_EQ(restore({}).code, 2);
  const Output other = restore({"gone"});
  EXPECT_EQ(other.code, 1);
  EXPECT_THAT(other.err, HasSubstr("gone was not touched by sandbox"));
}

}  // namespace
}  // namespace sandglass::testing
