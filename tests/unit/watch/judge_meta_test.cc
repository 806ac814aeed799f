// What counts as a change (W6), and what stat does not show (W6a).
#include "unit/watch/judge_fixture.h"
#include "watch/verdict.h"

namespace sandglass::watch::testing {

TEST_F(JudgeTest, Chmod_ExecBit_IsAChangeOfMetaOnly) {  // W6, B16
  dir_.write("s.sh", "x");
  begin();
  ASSERT_EQ(::chmod(at("s.sh").c_str(), 0755), 0);
  EXPECT_EQ(entry(kMeta, "s.sh"), Lines{"change* s.sh"});
}

TEST_F(JudgeTest, Chmod_OtherBits_IsNone) {
  dir_.write("f", "x");
  begin();
  ASSERT_EQ(::chmod(at("f").c_str(), 0600), 0);
  EXPECT_EQ(entry(kMeta, "f"), Lines{});
  ASSERT_EQ(::chmod(at("f").c_str(), 0640), 0);
  EXPECT_EQ(missed(), Lines{});  // the mode explains the ctime
}

TEST_F(JudgeTest, Retarget_IsAChange) {  // W6
  ASSERT_EQ(::symlink("one", at("l").c_str()), 0);
  begin();
  unlink("l");
  ASSERT_EQ(::symlink("two", at("l").c_str()), 0);
  EXPECT_EQ(entry(kGone | kBorn, "l"), Lines{"change l"});
}

TEST_F(JudgeTest, Touch_ThatAltersNothing_IsSuppressed) {  // W6, B16
  dir_.write("f", "x");
  begin();
  ASSERT_EQ(::utimensat(AT_FDCWD, at("f").c_str(), nullptr, 0), 0);
  EXPECT_EQ(entry(kMeta, "f"), Lines{});
  ASSERT_EQ(::utimensat(AT_FDCWD, at("f").c_str(), nullptr, 0), 0);
  EXPECT_EQ(entry(kMeta | kClosed, "f"), Lines{});  // as touch(1) does it
  EXPECT_EQ(audit(), Lines{});
}

TEST_F(JudgeTest, TimeSetOnPurpose_IsAChangeOfMetaOnly) {
  dir_.write("f", "x");
  begin();
  set_times("f", 1'000'000'000);
  EXPECT_EQ(entry(kMeta, "f"), Lines{"change* f"});
}

TEST_F(JudgeTest, WrittenThenOldTimeSet_IsAChange) {  // rule 16
  dir_.write("f", "aaaa");
  set_times("f", 1'000'000'000);
  begin();
  dir_.write("f", "bbbb");
  set_times("f", 1'000'000'000);
  EXPECT_EQ(entry(kData | kClosed | kMeta, "f"), Lines{"change f"});
}

// A watcher that only compares sends no flags: it must lose no write, and invent none.
// The new name of d takes the place of one that had another name, too: d is looked at even so, and
// its later write is told of a when d is gone before anyone looks.
TEST_F(JudgeTest, HardLinkInPlaceOfAHardLink_FindsItsNewOtherName) {
  dir_.write("d", "text 6");
  dir_.write("a", "old");
  ASSERT_EQ(::link(at("a").c_str(), at("z").c_str()), 0);
  begin();
  unlink("a");
  ASSERT_EQ(::link(at("d").c_str(), at("a").c_str()), 0);
  EXPECT_EQ(entry(kGone | kBorn, "a"), Lines{"change a"});
  dir_.write("d", "text 3");
  unlink("d");
  EXPECT_EQ(entry(kData | kClosed | kGone, "d"), (Lines{"delete d", "change a"}));
}

// What was written through a name that is gone unseen must not pass for a touch.
TEST_F(JudgeTest, ChmodOfAHardLink_WrittenThroughAnother_IsAChange) {
  dir_.write("a", "text 6");
  ASSERT_EQ(::link(at("a").c_str(), at("b").c_str()), 0);
  begin();
  dir_.write("b", "text 3");
  ASSERT_EQ(::chmod(at("a").c_str(), 0600), 0);
  Lines lines = entry(kMeta, "a");
  std::sort(lines.begin(), lines.end());
  EXPECT_EQ(lines, (Lines{"change a", "change b"}));
}

TEST_F(JudgeTest, NoFlags_WriteThroughAHardLink_IsAChangeOfBothNames_Once) {
  dir_.write("a", "x");
  ASSERT_EQ(::link(at("a").c_str(), at("b").c_str()), 0);
  begin();
  dir_.write("b", "y");
  Lines told = entry(0, "b");
  std::sort(told.begin(), told.end());
  EXPECT_EQ(told, (Lines{"change a", "change b"}));
  EXPECT_EQ(entry(0, "b"), Lines{});
  EXPECT_EQ(audit(), Lines{});
}

TEST_F(JudgeTest, WrittenThenOldTimeSet_HintsMissed_IsAChange) {  // rule 16
  dir_.write("f", "aaaa");
  set_times("f", 1'000'000'000);
  begin();
  dir_.write("f", "bbbb");
  set_times("f", 1'000'000'000);
  EXPECT_EQ(missed(), Lines{"change f"});
}

TEST_F(JudgeTest, StoreThroughAMapping_IsFoundByTheAudit) {  // rule 17
  dir_.write("f", "aaaa");
  begin();
  dir_.write("f", "bbbb");  // no hint, as for a store
  EXPECT_EQ(audit(), Lines{"change f"});
}

TEST_F(JudgeTest, ClosedAfterAStore_IsAChange) {
  dir_.write("f", "aaaa");
  begin();
  dir_.write("f", "bbbb");
  EXPECT_EQ(entry(kClosed, "f"), Lines{"change f"});
}

TEST_F(JudgeTest, ClosedWithoutAWrite_IsNone) {  // A8
  dir_.write("f", "x");
  begin();
  EXPECT_EQ(entry(kClosed, "f"), Lines{});
}

TEST_F(JudgeTest, SameSizeWriteThatStatDoesNotShow_IsToldAllTheSame) {  // W6a, J23
  dir_.write("f", "aaaa");
  set_times("f", 1'000'000'000);
  begin();
  // What a coarse clock makes of a write right after a look: nothing in stat, but the kernel said
  // so.
  EXPECT_EQ(entry(kData | kClosed, "f"), Lines{"change f"});
}

TEST_F(JudgeTest, WriteReadFromTheKernelBeforeTheLook_IsCovered) {
  begin();
  const int64_t before = mono_ns();
  dir_.write("f", "x");
  EXPECT_EQ(audit(), Lines{"create f"});
  const Hint late[] = {{SG_HINT_ENTRY, kSaved, 0, before, "f"}};
  replica_->apply(judge_->hints(late));
  EXPECT_EQ(replica_->take_log(), Lines{});
}

TEST(Verdict, WhatAWatcherCouldNotTell_IsNotCompared) {  // W7
  Node before;
  before.size = 3;
  before.inode = 9;
  before.mtime_ns = 5;
  Seen now;
  now.type = Type::file;
  now.size = 3;
  EXPECT_EQ(verdict_of(before, now, 0, 0), Verdict::same);
  now.inode = 10;
  EXPECT_EQ(verdict_of(before, now, 0, 0), Verdict::change);
}

}  // namespace sandglass::watch::testing
