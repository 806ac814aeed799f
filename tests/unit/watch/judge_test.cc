// One name at a time: saves, holds, moves.
#include "unit/watch/judge_fixture.h"

namespace sandglass::watch::testing {

TEST_F(JudgeTest, Save_InOneBatch_IsOneCreateThenOneChange) {  // J21
  begin();
  dir_.write("f", "1");
  EXPECT_EQ(entry(kSaved, "f"), Lines{"create f"});
  dir_.write("f", "2");
  EXPECT_EQ(entry(kData | kClosed, "f"), Lines{"change f"});
}

TEST_F(JudgeTest, Save_ToldInPieces_WaitsForTheClose) {  // J21
  dir_.write("f", "old");
  begin();
  dir_.write("f", "new");
  EXPECT_EQ(entry(kData, "f"), Lines{});  // truncated
  EXPECT_EQ(entry(kData, "f"), Lines{});  // written
  EXPECT_EQ(judge_->held(), 1u);
  EXPECT_EQ(entry(kClosed, "f"), Lines{"change f"});
  EXPECT_EQ(judge_->held(), 0u);
  EXPECT_EQ(release(), Lines{});
}

TEST_F(JudgeTest, OpenWriter_NeverClosing_IsToldWhenTheHoldEnds) {
  begin();
  dir_.write("f", "1");
  EXPECT_EQ(entry(kBorn | kData, "f"), Lines{});
  const int64_t due = judge_->next_due();
  EXPECT_LE(due, mono_ns() + kHoldNs);
  replica_->apply(judge_->release(due - 1, false));
  EXPECT_EQ(replica_->take_log(), Lines{});
  replica_->apply(judge_->release(due, false));
  EXPECT_EQ(replica_->take_log(), Lines{"create f"});
  EXPECT_EQ(judge_->next_due(), kNever);
}

TEST_F(JudgeTest, OpenWriter_WritingOn_DoesNotProlongTheHold) {
  begin();
  dir_.write("f", "1");
  entry(kBorn | kData, "f");
  const int64_t due = judge_->next_due();
  dir_.write("f", "12");
  entry(kData, "f");
  EXPECT_EQ(judge_->next_due(), due);
  EXPECT_EQ(release(), Lines{"create f"});
}

TEST_F(JudgeTest, BornAndGone_BeforeAnyoneWasTold_MakesNothing) {  // A7, W4
  begin();
  dir_.write("x", "");
  EXPECT_EQ(entry(kBorn, "x"), Lines{});  // held
  unlink("x");
  EXPECT_EQ(entry(kGone, "x"), Lines{});
  EXPECT_EQ(judge_->held(), 0u);
  EXPECT_EQ(entry(kBorn | kData | kClosed | kGone, "x"), Lines{});
}

TEST_F(JudgeTest, AtomicSave_IsOneChangeOfTheTarget) {  // A5, J22, W6
  dir_.write("a.txt", "old");
  begin();
  dir_.write("a.txt.tmp", "new");
  rename("a.txt.tmp", "a.txt");
  EXPECT_EQ(tell({{SG_HINT_ENTRY, kSaved | kGone, "a.txt.tmp"},
                  {SG_HINT_ENTRY, kBorn | kClosed, "a.txt"}}),
            Lines{"change a.txt"});
}

TEST_F(JudgeTest, AtomicSave_TemporarySeenFirst_IsAMatchedPair) {  // A5
  dir_.write("a.txt", "old");
  begin();
  dir_.write("tmp", "new");
  EXPECT_EQ(entry(kSaved, "tmp"), Lines{"create tmp"});
  rename("tmp", "a.txt");
  EXPECT_EQ(tell({{SG_HINT_ENTRY, kGone, "tmp"}, {SG_HINT_ENTRY, kBorn | kClosed, "a.txt"}}),
            (Lines{"delete tmp", "change a.txt"}));
}

TEST_F(JudgeTest, RemovedAndMadeAgain_IsAChange) {  // J14, W4
  dir_.write("f", "1");
  begin();
  unlink("f");
  dir_.write("f", "2");
  EXPECT_EQ(entry(kGone | kSaved, "f"), Lines{"change f"});
  dir_.write("f", "3");
  EXPECT_EQ(entry(kData | kClosed, "f"), Lines{"change f"});
}

TEST_F(JudgeTest, CaseOnlyRename_IsDeleteThenCreate) {  // J28
  dir_.write("Foo", "x");
  begin();
  rename("Foo", "foo");
  EXPECT_EQ(tell({{SG_HINT_ENTRY, kGone, "Foo"}, {SG_HINT_ENTRY, kBorn | kClosed, "foo"}}),
            (Lines{"delete Foo", "create foo"}));
}

TEST_F(JudgeTest, Exchange_ChangesBoth) {
  dir_.write("a", "a");
  dir_.write("b", "b");
  begin();
  rename("a", "b", RENAME_EXCHANGE);
  EXPECT_EQ(tell({{SG_HINT_ENTRY, kGone, "a"},
                  {SG_HINT_ENTRY, kBorn | kClosed, "b"},
                  {SG_HINT_ENTRY, kGone, "b"},
                  {SG_HINT_ENTRY, kBorn | kClosed, "a"}}),
            (Lines{"change a", "change b"}));
}

TEST_F(JudgeTest, MovedAwayAndBack_MakesNothing) {
  dir_.write("a", "a");
  begin();
  rename("a", "b");
  rename("b", "a");
  EXPECT_EQ(tell({{SG_HINT_ENTRY, kGone, "a"},
                  {SG_HINT_ENTRY, kBorn | kClosed | kGone, "b"},
                  {SG_HINT_ENTRY, kBorn | kClosed, "a"}}),
            Lines{});
}

// Whoever was told of it may have read it just when it was away.
TEST_F(JudgeTest, ToldThenMovedAwayAndBack_IsAChange) {  // W4, W5
  begin();
  dir_.write("d/e/f", "1");
  EXPECT_EQ(tree(kBorn, "d"), Lines{"create d/e/f"});
  for (const std::string name : {"d", "d/e", "d/e/f"}) {
    const uint32_t kind = name == "d/e/f" ? SG_HINT_ENTRY : SG_HINT_TREE;
    rename(name, "away");
    rename("away", name);
    EXPECT_EQ(tell({{SG_HINT_ENTRY, kGone, name},
                    {kind, kBorn | kClosed | kGone, "away"},
                    {kind, kBorn | kClosed, name}}),
              Lines{"change d/e/f"});
  }
}

TEST_F(JudgeTest, ToldThenMovedIntoAnotherDirectoryOfTheName_IsAChange) {  // W4, W5
  begin();
  dir_.write("d/f", "1");
  EXPECT_EQ(tree(kBorn, "d"), Lines{"create d/f"});
  rename("d", "away");
  mkdir("d");
  rename("away/f", "d/f");
  rmdir("away");
  EXPECT_EQ(tell({{SG_HINT_ENTRY, kGone, "d"}, {SG_HINT_TREE, kBorn, "d"}}), Lines{"change d/f"});
}

TEST_F(JudgeTest, HardLink_WriteThroughOneName_ChangesAll) {  // A12
  dir_.write("a", "1");
  begin();
  ASSERT_EQ(::link(at("a").c_str(), at("b").c_str()), 0);
  EXPECT_EQ(entry(kBorn, "b"), Lines{"create b"});  // not held
  dir_.write("b", "22");
  EXPECT_EQ(entry(kData | kClosed, "b"), (Lines{"change b", "change a"}));
  unlink("b");
  EXPECT_EQ(entry(kGone, "b"), Lines{"delete b"});
  EXPECT_EQ(audit(), Lines{});
}

TEST_F(JudgeTest, Symlinks_AreEntries_NeverFollowed) {  // A12, J20
  mkdir("d");
  begin();
  ASSERT_EQ(::symlink("..", at("d/loop").c_str()), 0);
  ASSERT_EQ(::symlink("/etc", at("out").c_str()), 0);
  dir_.write("d/f", "x");
  EXPECT_EQ(tell({{SG_HINT_ENTRY, kBorn, "d/loop"},
                  {SG_HINT_ENTRY, kBorn, "out"},
                  {SG_HINT_ENTRY, kSaved, "d/f"},
                  {SG_HINT_ENTRY, kData | kClosed, "out/passwd"}}),
            (Lines{"create d/loop", "create out", "create d/f"}));
  EXPECT_EQ(audit(), Lines{});
}

TEST_F(JudgeTest, Fifo_IsAnEntry) {
  begin();
  ASSERT_EQ(::mkfifo(at("fifo").c_str(), 0644), 0);
  EXPECT_EQ(entry(kBorn, "fifo"), Lines{"create fifo"});
}

TEST_F(JudgeTest, Names_AreBytes) {  // J25, J26, W9
  begin();
  const Lines names = {"a\xff",           "new\nline", "-dash", "z,7",
                       "Untitled Folder", "\x80",      "...",   std::string(255, 'n')};
  for (const std::string& name : names) {
    dir_.write(name, "x");
    EXPECT_EQ(entry(kSaved, name), Lines{"create " + name});
  }
}

TEST_F(JudgeTest, HintWithoutCause_MakesNothing) {  // A8
  dir_.write("f", "x");
  begin();
  EXPECT_EQ(entry(0, "f"), Lines{});
  EXPECT_EQ(entry(0, "nowhere"), Lines{});
  EXPECT_EQ(entry(kGone, "nowhere/at/all"), Lines{});
  EXPECT_EQ(tree(0, ""), Lines{});
}

TEST_F(JudgeTest, SeenTimeAndWriter_AreThoseOfTheLastHint) {
  begin();
  dir_.write("f", "x");
  const Hint hints[] = {{SG_HINT_ENTRY, kBorn, 7, 100, "f"}, {SG_HINT_ENTRY, kClosed, 8, 200, "f"}};
  const auto batch = judge_->hints(hints);
  ASSERT_EQ(batch.size(), 1u);
  EXPECT_EQ(batch[0].seen_ns, 200);
  EXPECT_EQ(batch[0].writers.last(), 8);
  replica_->apply(batch);
}

}  // namespace sandglass::watch::testing
