// What git itself does to a workspace.
#include <gmock/gmock.h>

#include "contract/watchers/session_fixture.h"
#include "support/command.h"

namespace sandglass::watch::testing {

class GitInSession : public SessionTest {
 protected:
  void git(const std::string& arguments) {
    const auto done = sandglass::testing::shell(
        "export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null HOME=/nonexistent; git -c "
        "user.name=t -c user.email=t@example.invalid -c safe.directory='*' -c gc.auto=0 " +
            arguments,
        root_);
    ASSERT_EQ(done.code, 0) << arguments << done.err;
  }
};

TEST_F(GitInSession, ObjectInADirectoryMadeAMomentAgo_IsTold) {  // J6
  start({});
  git("init -q");
  write("1.txt", "one\n");
  git("add 1.txt");
  EXPECT_THAT(flushed(),
              ::testing::Contains("create .git/objects/56/26abf0f72e58d7a153368ba57db4c673c0e171"));
}

TEST_F(GitInSession, CheckoutBetweenFarCommits_ReplayIsTheTree) {  // J31
  git("init -q -b old");
  for (int i = 0; i < 800; ++i)
    write("a/" + std::to_string(i % 40) + "/f" + std::to_string(i), std::to_string(i));
  git("add -A");
  git("commit -q -m old");
  git("checkout -q -b new");
  for (int i = 0; i < 800; ++i) {
    const std::string name = "/f" + std::to_string(i);
    if (i % 3 == 0) write("a/" + std::to_string(i % 40) + name, "other");
    if (i % 3 == 1) std::filesystem::remove(at("a/" + std::to_string(i % 40) + name));
    write("b/" + std::to_string(i % 50) + "/deep" + name, "new");
  }
  git("add -A");
  git("commit -q -m new");
  start();
  for (int i = 0; i < 3; ++i) {
    for (const char* branch : {"old", "new"}) {
      git(std::string("checkout -q ") + branch);
      ASSERT_TRUE(session_->flush(kLongMs));
      ASSERT_EQ(replica_->difference(), "") << branch;
    }
  }
}

TEST_F(GitInSession, UpperDirOfAContainer_IsTrustedAfterASelfProbe) {  // J30
  GTEST_SKIP() << "no provider has containers yet, so nothing watches an UpperDir";
}

}  // namespace sandglass::watch::testing
