// The small readers: configuration and trees.
#include <gtest/gtest.h>

#include "git/gitconfig.h"
#include "git/snapshot.h"

namespace sandglass::git {

TEST(GitConfig, Parse_SectionsKeysAndValues) {
  const GitConfig got = parse_git_config(
      "\xef\xbb\xbf[core]\n\tWorkTree = ../x  ; comment\n# c\n[remote \"Or\\\"igin\"]url=\"a b \"\n"
      "[Extensions]\n  objectFormat\t= sha256\r\n\tflag\n long = a\\\n b\\tc\n");
  EXPECT_EQ(got.at("core.worktree"), "../x");
  EXPECT_EQ(got.at("remote.Or\"igin.url"), "a b ");
  EXPECT_EQ(got.at("extensions.objectformat"), "sha256");
  EXPECT_EQ(got.at("extensions.flag"), "true");
  EXPECT_EQ(got.at("extensions.long"), "a b\tc");
}

TEST(GitConfig, Parse_Damaged_KeepsWhatCameBefore) {
  for (const char* tail :
       {"[", "[a", "[a \"b", "key \"", "x = \"open", "x = \"open\n\"", "= 1", "x y"})
    EXPECT_EQ(parse_git_config(std::string("[a]\nb = c\n") + tail).at("a.b"), "c") << tail;
}

TEST(Tree, Find_AnyCut_IsNothingOrRight) {
  std::string tree;
  for (const char* name : {"a", "b b"})
    tree += std::string("100664 ") + name + '\0' + std::string(20, 'x');
  tree += std::string("40000 dir") + '\0' + std::string(20, 'y');
  EXPECT_EQ(find_in_tree(tree, "b b")->mode, kRegular);
  EXPECT_EQ(find_in_tree(tree, "dir")->mode, kDirectory);
  EXPECT_FALSE(find_in_tree(tree, "b"));
  EXPECT_FALSE(find_in_tree(tree, ""));
  for (size_t n = 0; n < tree.size(); n++) EXPECT_FALSE(find_in_tree(tree.substr(0, n), "dir"));
}

}  // namespace sandglass::git
