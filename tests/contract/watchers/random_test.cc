// The promise, end to end: for all changes, at any speed, the replay is the tree (W5).
#include "contract/watchers/session_fixture.h"

namespace sandglass::watch::testing {

class SessionRandom : public SessionTest, public ::testing::WithParamInterface<int> {};

TEST_P(SessionRandom, AnyChanges_ReplayIsTheTree) {  // W5, W8
  const uint64_t seed = seed_of_the_day() + static_cast<uint64_t>(GetParam());
  SCOPED_TRACE("SANDGLASS_SEED=" + std::to_string(seed - static_cast<uint64_t>(GetParam())));
  RandomOps ops(root_, seed);
  std::vector<Told> unused;
  for (int i = 0; i < 20; ++i) ops.step(unused);
  start();
  for (int i = 0, end = number_of_ops(1500); i < end; ++i) {
    ops.step(unused);
    if (ops.number() % 100 == 0) {
      ASSERT_TRUE(ops.linked() ? session_->audit(kLongMs) : session_->flush(kLongMs));
      ASSERT_EQ(replica_->difference(), "") << "after step " << i;
    }
  }
  ops.close_all(unused);
  ASSERT_TRUE(ops.linked() ? session_->audit(kLongMs) : session_->flush(kLongMs));
  EXPECT_EQ(replica_->difference(), "");
  replica_->take_log();
  ASSERT_TRUE(session_->audit(kLongMs));
  EXPECT_EQ(replica_->take_log(), Lines{});
}

INSTANTIATE_TEST_SUITE_P(Seeds, SessionRandom, ::testing::Range(0, 12));

}  // namespace sandglass::watch::testing
