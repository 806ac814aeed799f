// Which watcher is taken, and what is said of it.
#include "watch/choose.h"

#include <sys/mount.h>

#include <nlohmann/json.hpp>

#include "contract/watchers/bindfs.h"
#include "contract/watchers/session_fixture.h"
#include "support/logged.h"

namespace sandglass::watch::testing {

class Choose : public SessionTest {
 protected:
  Result<Started> choose(const std::string& name, Target target, plugin::HostServices services) {
    static const plugin::Registry all({{SANDGLASS_WATCHER, "", "test"},
                                       {SANDGLASS_FANOTIFY, "", "test"},
                                       {SANDGLASS_POLL, "", "test"}});
    replica_ = std::make_unique<Replica>(root_);
    return start_watcher(all, {name, config::Value::make_map(), std::move(services), kLongMs},
                         std::move(target),
                         [this](std::vector<FileChange> batch) { replica_->apply(batch); });
  }
  Result<Started> choose(const std::string& name) { return choose(name, target(), services()); }
  void keep(Result<Started>& started) {
    ASSERT_TRUE(started) << started.error().text;
    session_ = std::move(started->session);
    state_ = nlohmann::json::parse(session_->state_json());
  }
  // The root is a file system of its own from now on, where that is permitted.
  bool mount_root(const char* type) {
    return mounted_ = ::mount(type, root_.c_str(), type, 0, nullptr) == 0;
  }
  void TearDown() override {
    SessionTest::TearDown();
    session_.reset();
    EXPECT_TRUE(!mounted_ || ::umount(root_.c_str()) == 0) << std::strerror(errno);
  }

  nlohmann::json state_;
  bool mounted_ = false;
};

TEST_F(Choose, Auto_OnAFileSystemOfItsOwn_TakesFanotify) {  // W2, W11
  if (!mount_root("tmpfs")) GTEST_SKIP() << "a tmpfs cannot be mounted here";
  auto started = choose("auto");
  keep(started);
  const std::string passed = state_.contains("passed") ? state_["passed"].dump() : "";
  if (passed.find("CAP_SYS_ADMIN") != std::string::npos) GTEST_SKIP() << passed;
  EXPECT_EQ(started->watcher, "fanotify") << passed;
  EXPECT_EQ(state_["why"], "the first choice here, and it proved itself");
}

TEST_F(Choose, Auto_TakesInotify_AndSaysWhy) {  // W2
  auto started = choose("auto");
  keep(started);
  EXPECT_EQ(started->watcher, "inotify");
  EXPECT_EQ(state_["watcher"], "inotify");
  EXPECT_EQ(state_["mode"], "native");
  EXPECT_EQ(state_["why"], "the first choice here, and it proved itself");
  EXPECT_FALSE(state_.contains("passed"));
}

TEST_F(Choose, ByName_IsTaken) {
  auto started = choose("poll");
  keep(started);
  EXPECT_EQ(state_["watcher"], "poll");
  EXPECT_EQ(state_["mode"], "polling");
  EXPECT_EQ(state_["why"], "asked for by name");
  write("f", "1");
  EXPECT_EQ(flushed(), Lines{"create f"});
}

TEST_F(Choose, Auto_OnFuse_Polls_AndEventsArrive) {  // A10, J29, W2
  const std::string other = dir_ / "other";
  ::mkdir(other.c_str(), 0755);
  const Bindfs mount(other, root_);
  if (!mount) GTEST_SKIP() << "no FUSE mount by bindfs can be had here";
  const sandglass::testing::Logged logged;
  Target target = this->target();
  target.interval_ms = 20;
  auto started = choose("auto", target, services());
  keep(started);
  EXPECT_EQ(started->watcher, "poll");
  ASSERT_EQ(state_["passed"].size(), 2u);  // the mount is a file system of its own: fanotify first
  for (const auto& one : state_["passed"])
    EXPECT_NE(one["reason"].get<std::string>().find("fuse"), std::string::npos) << one;
  EXPECT_EQ(logged.count("watching by poll, because of fanotify: "), 1u) << logged.text();
  dir_.write("other/d/f", "from the other side");
  EXPECT_TRUE(sandglass::testing::eventually([&] { return replica_->difference().empty(); }));
  ASSERT_TRUE(session_->stop(kLongMs));
  EXPECT_EQ(replica_->difference(), "");
  session_.reset();
}

TEST_F(Choose, NamedThatCannotBeHad_IsReplaced_WithOneWarning) {  // L2
  if (!mount_root("ramfs")) GTEST_SKIP() << "a ramfs cannot be mounted here";
  const sandglass::testing::Logged logged;
  auto started = choose("fanotify");  // a ramfs has no handles that it could decode
  keep(started);
  EXPECT_EQ(started->watcher, "inotify");
  EXPECT_EQ(state_["why"], "in place of fanotify");
  EXPECT_EQ(state_["passed"][0]["watcher"], "fanotify");
  EXPECT_EQ(logged.count("watching by inotify, not by fanotify: "), 1u) << logged.text();
}

TEST_F(Choose, FarTree_Polls_AndItsCanaryIsMadeThere) {  // W2: the box makes it
  Target target = this->target();
  target.local_root.clear();
  auto started = choose("inotify", target, services());
  keep(started);
  EXPECT_EQ(started->watcher, "poll");
  EXPECT_TRUE(std::filesystem::is_empty(root_));
  write("d/f", "1");
  EXPECT_EQ(flushed(), Lines{"create d/f"});
  std::filesystem::remove_all(at("d"));
  EXPECT_EQ(flushed(), Lines{"delete d/f"});
}

TEST_F(Choose, NoneCanBeHad_SaysAllReasons) {  // L2
  Target target = this->target();
  target.local_root.clear();
  const auto started = choose("auto", target, {});
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().fault, Fault::unsupported);
  for (const char* part : {"inotify: inotify needs a workspace", "poll: polling needs to run"})
    EXPECT_NE(started.error().text.find(part), std::string::npos) << started.error().text;
}

TEST_F(Choose, UnknownName_IsAnError) {
  const auto started = choose("inotfy");
  ASSERT_FALSE(started);
  EXPECT_NE(started.error().text.find("inotfy"), std::string::npos) << started.error().text;
}

}  // namespace sandglass::watch::testing
