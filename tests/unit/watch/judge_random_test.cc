// For all sequences of changes, however they are cut into batches: the replay is the tree (W5), and
// what a consumer read when it was told is what is there.
#include "unit/watch/judge_fixture.h"

namespace sandglass::watch::testing {

class JudgeRandom : public JudgeTest, public ::testing::WithParamInterface<int> {};

TEST_P(JudgeRandom, AnyChanges_AnyBatches_ReplayIsTheTree) {  // W5
  const uint64_t seed = seed_of_the_day() + static_cast<uint64_t>(GetParam());
  SCOPED_TRACE("SANDGLASS_SEED=" + std::to_string(seed - static_cast<uint64_t>(GetParam())));
  RandomOps ops(dir_.path(), seed);
  std::vector<Told> told;
  for (int i = 0; i < 20; ++i) ops.step(told);
  begin();
  told.clear();
  for (int i = 0; i < 400; ++i) {
    ops.step(told);
    // A batch ends anywhere, also between the hints of one save.
    if (ops.number() % 4 == 0) {
      const size_t cut = ops.number() % (told.size() + 1);
      const auto middle = told.begin() + static_cast<ptrdiff_t>(cut);
      tell({told.begin(), middle}, ops.number() % 8 == 0);
      told.erase(told.begin(), middle);
    }
  }
  ops.close_all(told);
  tell(told, true);
  EXPECT_EQ(replica_->difference(), "");
  EXPECT_EQ(audit(), Lines{});  // nothing is left for a comparison to find
}

TEST_P(JudgeRandom, HintsLost_RescanMakesItTrue) {  // W5
  const uint64_t seed = seed_of_the_day() + 1000u + static_cast<uint64_t>(GetParam());
  SCOPED_TRACE("seed " + std::to_string(seed));
  RandomOps ops(dir_.path(), seed);
  std::vector<Told> told;
  begin();
  for (int i = 0; i < 300; ++i) {
    ops.step(told);
    if (ops.number() % 4 == 0) tell(std::exchange(told, {}));
    if (ops.number() % 40 == 0) {  // some were never told
      told.clear();
      replica_->apply(judge_->rescan());
      ASSERT_EQ(replica_->take_log().front(), "rescan");
      ASSERT_EQ(replica_->difference(), "") << "after step " << i;
    }
  }
  replica_->apply(judge_->rescan());
}

INSTANTIATE_TEST_SUITE_P(Seeds, JudgeRandom, ::testing::Range(0, 25));

}  // namespace sandglass::watch::testing
