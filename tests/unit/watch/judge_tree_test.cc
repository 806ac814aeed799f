// Directories: they make no events, what is below them does (W4).
#include "unit/watch/judge_fixture.h"

namespace sandglass::watch::testing {

TEST_F(JudgeTest, DeepDirectoriesInOneBreath_EachFileOnce) {  // A1, J3, J4, J5
  begin();
  dir_.write("a/b/c/f", "1");
  dir_.write("a/b/g", "2");
  Lines lines = tree(kBorn, "a");
  std::sort(lines.begin(), lines.end());
  EXPECT_EQ(lines, (Lines{"create a/b/c/f", "create a/b/g"}));
  EXPECT_EQ(tree(kBorn, "a/b"), Lines{});
  EXPECT_EQ(entry(kBorn, "a/b/g"), Lines{});
}

TEST_F(JudgeTest, HintBelowAnUnknownDirectory_ReportsTheDirectory) {  // J1
  begin();
  dir_.write("a/b/f", "1");
  EXPECT_EQ(entry(kSaved, "a/b/f"), Lines{"create a/b/f"});
}

TEST_F(JudgeTest, DirectoryRename_DeletesThenCreatesAll) {  // J9, J10, J27
  dir_.write("old/x", "1");
  dir_.write("old/s/y", "2");
  begin();
  rename("old", "new");
  Lines lines = tell({{SG_HINT_ENTRY, kGone, "old"}, {SG_HINT_TREE, kBorn, "new"}});
  ASSERT_EQ(lines.size(), 4u);
  std::sort(lines.begin(), lines.begin() + 2);
  std::sort(lines.begin() + 2, lines.end());
  EXPECT_EQ(lines, (Lines{"delete old/s/y", "delete old/x", "create new/s/y", "create new/x"}));
}

TEST_F(JudgeTest, DirectoryRemovedAndMadeAgain_EndsRight) {  // A9, J2
  dir_.write("d/a", "1");
  begin();
  unlink("d/a");
  rmdir("d");
  dir_.write("d/b", "2");
  EXPECT_EQ(
      tell(
          {{SG_HINT_ENTRY, kGone, "d/a"}, {SG_HINT_ENTRY, kGone, "d"}, {SG_HINT_TREE, kBorn, "d"}}),
      (Lines{"delete d/a", "create d/b"}));
}

TEST_F(JudgeTest, MadeAndRemovedInAHurry_LaterOnesStillArrive) {  // J13
  begin();
  for (int i = 0; i < 100; ++i) {
    mkdir("f");
    if (i % 2) tree(kBorn, "f");
    rmdir("f");
    EXPECT_EQ(entry(kGone, "f"), Lines{});
  }
  dir_.write("g", "x");
  EXPECT_EQ(entry(kSaved, "g"), Lines{"create g"});
}

TEST_F(JudgeTest, FileBecomesDirectoryAndBack_IsDeleteThenCreate) {  // T13
  dir_.write("f", "1");
  begin();
  unlink("f");
  dir_.write("f/x", "2");
  EXPECT_EQ(tree(kGone | kBorn, "f"), (Lines{"delete f", "create f/x"}));
  unlink("f/x");
  rmdir("f");
  dir_.write("f", "3");
  EXPECT_EQ(entry(kGone | kBorn | kClosed, "f"), (Lines{"delete f/x", "create f"}));
}

TEST_F(JudgeTest, FileBecomesSymlink_IsDeleteThenCreate) {
  dir_.write("f", "1");
  begin();
  unlink("f");
  ASSERT_EQ(::symlink("x", at("f").c_str()), 0);
  EXPECT_EQ(entry(kGone | kBorn, "f"), (Lines{"delete f", "create f"}));
}

TEST_F(JudgeTest, AnotherDirectoryUnderTheName_IsComparedWhole) {
  dir_.write("a/x", "1");
  dir_.write("b/x", "2");
  dir_.write("b/y", "3");
  begin();
  rename("a", "b", RENAME_EXCHANGE);
  Lines lines = tell({{SG_HINT_ENTRY, 0, "a"}, {SG_HINT_ENTRY, 0, "b"}});  // not even BORN or GONE
  EXPECT_EQ(lines.front(), "delete b/y");
  std::sort(lines.begin() + 1, lines.end());
  EXPECT_EQ(lines, (Lines{"delete b/y", "change a/x", "change b/x", "create a/y"}));
}

TEST_F(JudgeTest, RemovedTree_DeletesEachPathUnderItsLastName) {  // J10, rule 10
  dir_.write("etc/a/b", "1");
  begin();
  rename("etc", "aaa");
  tell({{SG_HINT_ENTRY, kGone, "etc"}, {SG_HINT_TREE, kBorn, "aaa"}});
  unlink("aaa/a/b");
  rmdir("aaa/a");
  rmdir("aaa");
  EXPECT_EQ(entry(kGone, "aaa"), Lines{"delete aaa/a/b"});
}

TEST_F(JudgeTest, DirectoryBehindASymlink_IsNotEntered) {  // B9
  sandglass::testing::TempDir outside;
  outside.write("secret", "s");
  dir_.write("d/f", "1");
  begin();
  unlink("d/f");
  rmdir("d");
  ASSERT_EQ(::symlink(outside.path().c_str(), at("d").c_str()), 0);
  EXPECT_EQ(tell({{SG_HINT_ENTRY, kBorn, "d/secret"}, {SG_HINT_ENTRY, kGone | kBorn, "d"}}),
            (Lines{"delete d/f", "create d"}));
}

TEST_F(JudgeTest, IgnoredNames_AreDirectoriesOnly) {  // D4, rule 11
  dir_.write("node_modules/old", "x");
  begin();
  EXPECT_EQ(judge_->tree().files(), 0u);
  dir_.write("node_modules/new", "x");
  dir_.write("deep/node_modules/x", "x");
  dir_.write("my_node_modules/seen", "x");
  dir_.write("sub/node_modules", "a file");
  dir_.write(".gitignore", "x");
  Lines lines = tell({{SG_HINT_ENTRY, kSaved, "node_modules/new"},
                      {SG_HINT_TREE, kBorn, "node_modules"},
                      {SG_HINT_TREE, kBorn, "deep"},
                      {SG_HINT_TREE, kBorn, "my_node_modules"},
                      {SG_HINT_TREE, kBorn, "sub"},
                      {SG_HINT_ENTRY, kSaved, ".gitignore"}});
  EXPECT_EQ(lines,
            (Lines{"create my_node_modules/seen", "create sub/node_modules", "create .gitignore"}));
  unlink("sub/node_modules");
  dir_.write("sub/node_modules/x", "x");
  EXPECT_EQ(entry(kGone, "sub/node_modules"), Lines{"delete sub/node_modules"});
}

TEST_F(JudgeTest, IgnoredDirectoryRenamed_Appears) {
  dir_.write("node_modules/x", "x");
  begin();
  rename("node_modules", "vendor");
  EXPECT_EQ(tell({{SG_HINT_ENTRY, kGone, "node_modules"}, {SG_HINT_TREE, kBorn, "vendor"}}),
            Lines{"create vendor/x"});
  rename("vendor", "node_modules");
  EXPECT_EQ(entry(kGone, "vendor"), Lines{"delete vendor/x"});
}

TEST_F(JudgeTest, RootGoneAndBack_DeletesAllThenCreates) {  // rule 13
  dir_.write("a/x", "1");
  dir_.write("y", "2");
  begin();
  std::filesystem::remove_all(dir_.path());
  Lines lines = entry(kGone, "");
  std::sort(lines.begin(), lines.end());
  EXPECT_EQ(lines, (Lines{"delete a/x", "delete y"}));
  EXPECT_FALSE(judge_->root_there());
  EXPECT_EQ(entry(kSaved, "z"), Lines{});
  dir_.write("reborn", "3");
  EXPECT_EQ(tree(kBorn, ""), Lines{"create reborn"});
  EXPECT_TRUE(judge_->root_there());
}

TEST_F(JudgeTest, RootReplacedByALink_IsGone) {  // B9
  sandglass::testing::TempDir outside;
  outside.write("secret", "s");
  dir_.write("f", "1");
  begin();
  std::filesystem::remove_all(dir_.path());
  ASSERT_EQ(::symlink(outside.path().c_str(), dir_.path().c_str()), 0);
  EXPECT_EQ(tree(kGone | kBorn, ""), Lines{"delete f"});
  EXPECT_FALSE(judge_->root_there());
  ASSERT_EQ(::unlink(dir_.path().c_str()), 0);
}

TEST_F(JudgeTest, DirectoryThatCannotBeRead_DeletesNothing) {  // W7
  if (::geteuid() == 0) GTEST_SKIP() << "root may read every directory";
  dir_.write("d/f", "1");
  begin();
  ASSERT_EQ(::chmod(at("d").c_str(), 0), 0);
  EXPECT_EQ(audit(), Lines{});
  ASSERT_EQ(::chmod(at("d").c_str(), 0755), 0);
}

TEST_F(JudgeTest, ManyHardLinksRemovedWithTheirDirectory_OthersKeepQuiet) {
  dir_.write("a/f", "1");
  mkdir("b");
  for (int i = 0; i < 200; ++i)
    ASSERT_EQ(::link(at("a/f").c_str(), at("b/l" + std::to_string(i)).c_str()), 0);
  begin();
  std::filesystem::remove_all(at("b"));
  EXPECT_EQ(entry(kGone, "b").size(), 200u);
  EXPECT_EQ(audit(), Lines{});
}

}  // namespace sandglass::watch::testing
