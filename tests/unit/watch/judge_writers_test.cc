// Who wrote is carried from the hints to the change, all of them, and nobody else (W11).
#include "unit/watch/judge_fixture.h"

namespace sandglass::watch::testing {
namespace {

class JudgeWriters : public JudgeTest {
 protected:
  std::vector<FileChange> hint(std::vector<Hint> hints) {
    auto batch = judge_->hints(hints);
    replica_->apply(batch);
    return batch;
  }
  static Hint entry_of(uint32_t flags, int32_t pid, std::string_view path) {
    return {SG_HINT_ENTRY, flags, pid, mono_ns(), path};
  }
  static std::vector<int32_t> pids(const FileChange& change) {
    return {change.writers.pids.begin(), change.writers.pids.begin() + change.writers.count};
  }
};

TEST_F(JudgeWriters, SeveralOfOneChange_AreAllCarriedOnce) {
  begin();
  dir_.write("f", "x");
  const auto batch = hint({entry_of(kBorn, 7, "f"), entry_of(kData, 8, "f"),
                           entry_of(kData, 7, "f"), entry_of(kClosed, 0, "f")});
  ASSERT_EQ(batch.size(), 1u);
  EXPECT_EQ(pids(batch[0]), (std::vector<int32_t>{7, 8}));
  EXPECT_FALSE(batch[0].writers.more);
}

TEST_F(JudgeWriters, MoreThanAreKept_IsSaid) {
  begin();
  dir_.write("f", "x");
  std::vector<Hint> hints{entry_of(kBorn, 1, "f")};
  for (int32_t pid = 2; pid <= 9; ++pid) hints.push_back(entry_of(kData, pid, "f"));
  hints.push_back(entry_of(kClosed, 3, "f"));
  const auto batch = hint(hints);
  ASSERT_EQ(batch.size(), 1u);
  EXPECT_EQ(batch[0].writers.count, Writers::kMost);
  EXPECT_TRUE(batch[0].writers.more);
}

// Held until it is closed: those who wrote before belong to it.
TEST_F(JudgeWriters, WhileHeld_AreCollected) {
  begin();
  dir_.write("f", "x");
  EXPECT_TRUE(hint({entry_of(kBorn, 7, "f")}).empty());
  const auto batch = hint({entry_of(kClosed, 8, "f")});
  ASSERT_EQ(batch.size(), 1u);
  EXPECT_EQ(pids(batch[0]), (std::vector<int32_t>{7, 8}));
}

TEST_F(JudgeWriters, FileInANewDirectory_WaitsForItsOwnHint) {
  begin();
  dir_.write("d/f", "x");
  dir_.write("d/s/g", "y");
  EXPECT_TRUE(hint({{SG_HINT_TREE, kBorn, 7, mono_ns(), "d"}}).empty());
  const auto first = hint({entry_of(kSaved, 8, "d/f")});
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(pids(first[0]), std::vector<int32_t>{8});
  // The other's hint never comes: told all the same, of nobody.
  const auto late = judge_->release(kNever, true);
  ASSERT_EQ(late.size(), 1u);
  EXPECT_EQ(late[0].path, "d/s/g");
  EXPECT_TRUE(late[0].writers.empty());
  replica_->apply(late);
}

TEST_F(JudgeWriters, HintsOfOneBatch_AreTheFilesOwn) {
  begin();
  dir_.write("d/f", "x");
  const auto batch = hint({{SG_HINT_TREE, kBorn, 7, mono_ns(), "d"}, entry_of(kSaved, 8, "d/f")});
  ASSERT_EQ(batch.size(), 1u);
  EXPECT_EQ(pids(batch[0]), std::vector<int32_t>{8});
}

TEST_F(JudgeWriters, DirectoryMovedIn_IsOfTheMover) {
  begin();
  dir_.write("d/s/f", "x");
  const auto batch = hint({{SG_HINT_TREE, kBorn | kClosed, 7, mono_ns(), "d"}});
  ASSERT_EQ(batch.size(), 1u);
  EXPECT_EQ(pids(batch[0]), std::vector<int32_t>{7});
}

// A watcher that knows no writers is told at once, as ever.
TEST_F(JudgeWriters, NoWriters_NothingWaits) {
  begin();
  dir_.write("d/f", "x");
  EXPECT_EQ(hint({{SG_HINT_TREE, kBorn, 0, mono_ns(), "d"}}).size(), 1u);
}

TEST_F(JudgeWriters, RemovedTree_IsOfTheRemover) {
  dir_.write("d/s/f", "x");
  begin();
  std::filesystem::remove_all(dir_ / "d");
  const auto batch = hint({entry_of(kGone, 7, "d/s/f"), entry_of(kGone, 7, "d")});
  ASSERT_EQ(batch.size(), 1u);
  EXPECT_EQ(pids(batch[0]), std::vector<int32_t>{7});
}

}  // namespace
}  // namespace sandglass::watch::testing
