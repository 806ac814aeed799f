// The tools that a sandbox may have, and looks that fail or see a part.
#include <nlohmann/json.hpp>

#include "contract/watchers/poll_fixture.h"
#include "support/logged.h"

namespace sandglass::watch::testing {

static std::string tool(const std::string& name) {
  for (const char* folder : {"/usr/bin/", "/bin/"})
    if (::access((folder + name).c_str(), X_OK) == 0) return folder + name;
  return {};
}

// All in one: what there is of files, at any speed.
class PollTools : public PollTest, public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    const std::string box = tool(GetParam());
    if (box.empty()) GTEST_SKIP() << "there is no " << GetParam() << " here";
    no_tools();
    for (const char* name : {"find", "stat", "sha1sum", "touch", "rm"}) link_tool(name, box);
  }
};

TEST_P(PollTools, OnlyTheseTools_AreEnough) {  // W7, A11
  write("d/old", "1");
  write("node_modules/x", "1");
  start();
  EXPECT_EQ(nlohmann::json::parse(session_->state_json())["reason"], "find and stat, sha1sum");
  write("d/new", "2");
  write("a\nb//c/it's -exec ; $(x)", "3");
  ASSERT_EQ(::symlink("nowhere", at("link").c_str()), 0);
  ASSERT_EQ(::chmod(at("d/old").c_str(), 0755), 0);
  write("node_modules/y", "1");
  EXPECT_EQ(sorted(), (Lines{"change* d/old", "create a\nb/c/it's -exec ; $(x)", "create d/new",
                             "create link"}));
  for (int i = 0; i < 10; ++i) {
    write("d/new", i % 2 ? "a" : "b");
    EXPECT_TRUE(session_->flush(kLongMs));
    EXPECT_EQ(replica_->difference(), "");
  }
  std::filesystem::remove_all(at("d"));
  rename("a\nb", "e");
  EXPECT_TRUE(session_->flush(kLongMs));
  EXPECT_EQ(replica_->difference(), "");
}

TEST_P(PollTools, AnyChanges_ReplayIsTheTree) {  // W5
  const uint64_t seed = seed_of_the_day();
  SCOPED_TRACE("SANDGLASS_SEED=" + std::to_string(seed));
  RandomOps ops(root_, seed);
  std::vector<Told> unused;
  start();
  for (int i = 0; i < 1000; ++i) {
    ops.step(unused);
    if (ops.number() % 50 != 0) continue;
    ASSERT_TRUE(session_->flush(kLongMs));
    ASSERT_EQ(replica_->difference(), "") << "after step " << i;
  }
  ops.close_all(unused);
}

INSTANTIATE_TEST_SUITE_P(Boxes, PollTools, ::testing::Values("busybox", "toybox"));

// Some boxes' find runs a stat of its own; this one runs what it is told.
constexpr const char* kNoPrintf =
    "case \"$*\" in *-printf*) exit 1;; esac\nexec /usr/bin/find \"$@\"\n";

// stat as it was before it knew of parts of a second.
constexpr const char* kWholeSeconds =
    "/usr/bin/stat \"$@\" | /bin/sed 's/\\(:[0-9][0-9]\\)\\.[0-9]*/\\1/g'\n";

TEST_F(PollTest, WholeSeconds_SameSizeRewriteWithinASecond_IsSeen) {  // J23, W7
  no_tools();
  script_tool("find", kNoPrintf);
  script_tool("stat", kWholeSeconds);
  link_tool("md5sum", tool("md5sum"));
  write("before", "aaaa");
  start();
  write("before", "bbbb");
  write("f", "aaaa");
  EXPECT_EQ(sorted(), (Lines{"change before", "create f"}));
  EXPECT_EQ(nlohmann::json::parse(session_->state_json())["reason"], "find and stat, md5sum");
  for (int i = 0; i < 20; ++i) {
    write("f", i % 2 ? "aaaa" : "bbbb");
    EXPECT_EQ(flushed(), Lines{"change f"}) << i;
  }
}

TEST_F(PollTest, NoFind_SaysSo) {  // W7, A11
  no_tools();
  auto session = Session::start(
      make_watcher(services()), target(), [](std::vector<FileChange>) {}, kLongMs);
  ASSERT_FALSE(session);
  EXPECT_NE(session.error().text.find("there is no find in the sandbox"), std::string::npos)
      << session.error().text;
}

TEST_F(PollTest, KilledLook_IsDiscarded_ThreeAreSaidOnce_RecoveryOnce) {  // W7
  no_tools();
  for (const char* name : {"touch", "rm", "sha1sum"}) link_tool(name, tool(name));
  const std::string flag = dir_ / "broken";
  script_tool("find", "[ -e " + flag + " ] || exec /usr/bin/find \"$@\"\n" +
                          "/usr/bin/find \"$@\" | /usr/bin/head -c 300\nkill -9 $$\n");
  for (int i = 0; i < 40; ++i) write("d" + std::to_string(i) + "/f", "1");
  const sandglass::testing::Logged logged;
  start();
  dir_.write("broken", "");
  write("new", "1");
  std::filesystem::remove(at("d3/f"));
  EXPECT_FALSE(session_->flush(kLongMs));
  EXPECT_FALSE(session_->flush(kLongMs));
  EXPECT_EQ(replica_->take_log(), Lines{});
  EXPECT_EQ(logged.count("polling fails, changes are not seen meanwhile"), 1u) << logged.text();
  EXPECT_EQ(mode(), "failing");
  std::filesystem::remove(flag);
  EXPECT_EQ(sorted(), (Lines{"create new", "delete d3/f"}));
  EXPECT_EQ(mode(), "polling");
  EXPECT_TRUE(session_->flush(kLongMs));
  EXPECT_EQ(logged.count("polling works again"), 1u) << logged.text();
}

TEST_F(PollTest, StatThatDies_IsNoDelete) {  // W7
  no_tools();
  const std::string flag = dir_ / "broken";
  script_tool("find", kNoPrintf);
  script_tool("stat", "[ -e " + flag + " ] && kill -9 $$\nexec /usr/bin/stat \"$@\"\n");
  write("d/f", "1");
  start();
  dir_.write("broken", "");
  EXPECT_FALSE(session_->flush(kLongMs));
  std::filesystem::remove(flag);
  EXPECT_EQ(flushed(), Lines{});
}

// As root nothing is unreadable: find runs as nobody there.
class PollUnreadable : public PollTest, public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    const std::string box = tool(GetParam());
    if (box.empty()) GTEST_SKIP() << "there is no " << GetParam() << " here";
    if (::geteuid() == 0 && tool("setpriv").empty()) GTEST_SKIP() << "no setpriv to drop root with";
    no_tools();
    const std::string find = std::string(GetParam()) == "find" ? box : box + " find";
    const std::string drop = "/usr/bin/setpriv --reuid 65534 --regid 65534 --clear-groups ";
    script_tool("find", "exec " + (::geteuid() == 0 ? drop : "") + find + " \"$@\"\n");
    for (const char* name : {"stat", "sha1sum", "touch", "rm"}) link_tool(name, tool(name));
    ::chmod(dir_.path().c_str(), 0755);
  }
};

TEST_P(PollUnreadable, Directory_LosesNothing_OthersGoOn) {  // W7
  const std::string closed[] = {"closed", "bad\xff\t'\\", "\xc3\xa4 \"",
                                "closed: Permission denied\nfind: .: x"};
  for (const std::string& dir : closed) {
    write(dir + "/f", "1");
    write(dir + "/sub/g", "1");
  }
  write("open/f", "1");
  start();
  for (const std::string& dir : closed)
    ASSERT_EQ(::chmod(at(dir).c_str(), ::geteuid() == 0 ? 0700 : 0), 0);
  write("open/g", "1");
  EXPECT_EQ(flushed(), Lines{"create open/g"});
  const std::string reason = nlohmann::json::parse(session_->state_json())["reason"];
  EXPECT_NE(reason.find("cannot be read"), std::string::npos) << reason;
  for (const std::string& dir : closed) {
    ASSERT_EQ(::chmod(at(dir).c_str(), 0755), 0);
    std::filesystem::remove(at(dir + "/sub/g"));
  }
  EXPECT_TRUE(session_->flush(kLongMs));
  EXPECT_EQ(replica_->difference(), "");
}

TEST_P(PollUnreadable, OtherDirectoriesStillDelete) {  // W7
  for (const std::string dir : {"closed", "bad\xff\t'\\"}) {
    write(dir + "/f", "1");
    write("open/f", "1");
    write("top", "1");
    start();
    ASSERT_EQ(::chmod(at(dir).c_str(), ::geteuid() == 0 ? 0700 : 0), 0);
    std::filesystem::remove(at("open/f"));
    std::filesystem::remove(at("top"));
    EXPECT_EQ(sorted(), (Lines{"delete open/f", "delete top"}));
    ASSERT_EQ(::chmod(at(dir).c_str(), 0755), 0);
    ASSERT_TRUE(session_->stop(kLongMs));
    session_.reset();
  }
}

INSTANTIATE_TEST_SUITE_P(Tools, PollUnreadable, ::testing::Values("find", "busybox", "toybox"));

}  // namespace sandglass::watch::testing
