// What inotify cannot hear of: mounts below the root.
#include <nlohmann/json.hpp>

#include "contract/watchers/bindfs.h"
#include "contract/watchers/session_fixture.h"

namespace sandglass::watch::testing {

TEST_F(SessionTest, MountOfAForeignFileSystemBelow_IsPolled) {  // A10, rule 23
  const std::string other = dir_ / "other";
  ::mkdir(other.c_str(), 0755);
  dir_.write("other/deep/old", "1");
  mkdir("mount");
  const Bindfs mount(other, at("mount"));
  if (!mount) GTEST_SKIP() << "no FUSE mount by bindfs can be had here";
  start();
  const auto state = nlohmann::json::parse(session_->state_json());
  EXPECT_EQ(state["mode"], "native and polling");
  EXPECT_EQ(state["blind"], 1);
  EXPECT_NE(state["reason"].get<std::string>().find("1 mounts below the root"), std::string::npos);
  dir_.write("other/deep/new", "2");  // from the other side
  EXPECT_TRUE(sandglass::testing::eventually([&] { return replica_->difference().empty(); }));
  write("native", "3");
  EXPECT_TRUE(session_->flush(kLongMs));
  EXPECT_EQ(replica_->difference(), "");
  ASSERT_TRUE(session_->stop(kLongMs));
  session_.reset();
  replica_.reset();
}

}  // namespace sandglass::watch::testing
