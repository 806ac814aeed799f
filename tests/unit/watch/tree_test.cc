#include "watch/tree.h"

#include <gtest/gtest.h>

namespace sandglass::watch {

static Seen file(uint64_t inode, uint32_t links = 1) {
  Seen seen;
  seen.links = links;
  seen.type = Type::file;
  seen.inode = inode;
  return seen;
}

static Seen directory() {
  Seen seen;
  seen.type = Type::dir;
  return seen;
}

static std::vector<std::string> names_of(const Node* node) {
  std::vector<std::string> names;
  for (const Node* other = node->same; other && other != node; other = other->same)
    names.push_back(path_of(other));
  return names;
}

TEST(Tree, Paths_AreMadeByWalkingUp) {
  Tree tree;
  Dir* a = as_dir(tree.add(tree.root(), "a", directory(), 1));
  Dir* b = as_dir(tree.add(a, "b", directory(), 1));
  Node* f = tree.add(b, std::string("\xff\n", 2), file(1), 1);
  EXPECT_EQ(path_of(tree.root()), "");
  EXPECT_EQ(path_of(f), "a/b/\xff\n");
  EXPECT_EQ(tree.find(b, "\xff\n"), f);
  EXPECT_EQ(tree.find(a, "\xff\n"), nullptr);
  EXPECT_EQ(tree.files(), 1u);
  EXPECT_EQ(tree.dirs(), 2u);
}

TEST(Tree, NamesOfOneInode_FindEachOther) {
  Tree tree;
  Node* a = tree.add(tree.root(), "a", file(7), 1);
  EXPECT_EQ(names_of(a), std::vector<std::string>{});
  Node* b = tree.add(tree.root(), "b", file(7, 2), 1);
  Node* c = tree.add(tree.root(), "c", file(7, 3), 1);
  EXPECT_EQ(names_of(a).size(), 2u);
  tree.refresh(b, file(8), 2);  // replaced by another file
  EXPECT_EQ(names_of(a), std::vector<std::string>{"c"});
  EXPECT_EQ(names_of(b), std::vector<std::string>{});
  tree.remove(a);
  EXPECT_EQ(names_of(c), std::vector<std::string>{});
  Node* d = tree.add(tree.root(), "d", file(7, 2), 1);
  EXPECT_EQ(names_of(d), std::vector<std::string>{"c"});
}

TEST(Tree, RemovedNode_StaysReadableUntilBuried) {
  Tree tree;
  Node* a = tree.add(tree.root(), "a", file(7), 1);
  tree.remove(a);
  EXPECT_TRUE(a->gone);
  EXPECT_EQ(a->name(), "a");
  EXPECT_EQ(tree.find(tree.root(), "a"), nullptr);
  Node* again = tree.add(tree.root(), "a", file(7), 1);
  EXPECT_NE(again, a);
  tree.bury();
  EXPECT_EQ(tree.find(tree.root(), "a"), again);
}

TEST(Tree, Node_StaysSmall) {  // W10
  EXPECT_LE(sizeof(Node), 72u);
}

}  // namespace sandglass::watch
