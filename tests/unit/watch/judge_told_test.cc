// A tree that this machine cannot see: facts and listings.
#include "unit/watch/judge_fixture.h"

namespace sandglass::watch::testing {

class ToldTest : public ::testing::Test {
 protected:
  static Lines lines(const std::vector<FileChange>& batch) {
    Lines out;
    for (const FileChange& one : batch) {
      static const char* const words[] = {"create ", "change ", "delete ", "rescan"};
      out.push_back(words[static_cast<int>(one.kind)] + one.path);
    }
    return out;
  }
  Lines fact(uint32_t kind, const std::string& path) {
    const Hint hints[] = {{kind, 0, 0, 1, path}};
    return lines(judge_.hints(hints));
  }
  static Entry entry(std::string_view name, char type, uint64_t size = 1, int64_t mtime = 1) {
    Entry one;
    one.name = name;
    one.seen.type = static_cast<Type>(type);
    one.seen.size = size;
    one.seen.mtime_ns = mtime;
    return one;
  }
  Lines list(const std::string& dir, std::vector<Entry> entries, bool complete = true) {
    const Listing one[] = {{dir, entries, complete}};
    return lines(judge_.listings(one));
  }

  Judge judge_{"", {".git", "node_modules"}};
};

TEST_F(ToldTest, Facts_NeverDoubleCreateOrDelete) {
  EXPECT_EQ(fact(SG_HINT_CREATED, "a/b/f"), Lines{"create a/b/f"});
  EXPECT_EQ(fact(SG_HINT_CREATED, "a/b/f"), Lines{"change a/b/f"});
  EXPECT_EQ(fact(SG_HINT_CHANGED, "a/g"), Lines{"create a/g"});
  Lines gone = fact(SG_HINT_DELETED, "a");
  std::sort(gone.begin(), gone.end());
  EXPECT_EQ(gone, (Lines{"delete a/b/f", "delete a/g"}));
  EXPECT_EQ(fact(SG_HINT_DELETED, "a/g"), Lines{});
}

TEST_F(ToldTest, Facts_BelowAnIgnoredName_MakeNothing) {  // D4
  EXPECT_EQ(fact(SG_HINT_CREATED, "x/node_modules/y"), Lines{});
  EXPECT_EQ(fact(SG_HINT_CREATED, "x/node_modules"), Lines{"create x/node_modules"});
}

TEST_F(ToldTest, Listings_AreCompared) {  // W7
  EXPECT_EQ(list("", {entry("a", 'f'), entry("d", 'd'), entry(".git", 'd')}), Lines{"create a"});
  EXPECT_EQ(list("d", {entry("x", 'f'), entry("y", 'l')}), (Lines{"create d/x", "create d/y"}));
  EXPECT_EQ(list("d", {entry("x", 'f'), entry("y", 'l')}), Lines{});
  EXPECT_EQ(list("d", {entry("x", 'f', 2), entry("y", 'l', 1, 5)}),
            (Lines{"change d/x", "change d/y"}));
  EXPECT_EQ(list("", {entry("d", 'f')}),
            (Lines{"delete d/x", "delete d/y", "delete a", "create d"}));
}

TEST_F(ToldTest, IncompleteListing_DeletesNothing) {  // W7
  list("", {entry("a", 'f'), entry("b", 'f')});
  EXPECT_EQ(list("", {entry("b", 'f')}, false), Lines{});
  EXPECT_EQ(list("", {entry("b", 'f')}, true), Lines{"delete a"});
}

TEST_F(ToldTest, ListingsOfOneLook_DeletesComeFirst) {  // W4
  list("", {entry("a", 'd'), entry("b", 'd')});
  list("a", {entry("x", 'f')});
  list("b", {entry("y", 'f')});
  const std::vector<Entry> a{entry("y", 'f')}, b{entry("x", 'f')};
  const Listing look[] = {{"a", a}, {"b", b}};
  EXPECT_EQ(lines(judge_.listings(look)),
            (Lines{"delete a/x", "delete b/y", "create a/y", "create b/x"}));
}

TEST_F(ToldTest, DirectoryNoLongerListed_GoesWithAllBelow) {
  list("", {entry("d", 'd'), entry("e", 'd')});
  list("d", {entry("deep", 'd')});
  list("d/deep", {entry("f", 'f')});
  list("e", {entry("g", 'f')});
  EXPECT_EQ(list("", {entry("e", 'd')}), Lines{"delete d/deep/f"});
  EXPECT_EQ(list("", {}), Lines{"delete e/g"});  // the root is gone
  EXPECT_EQ(list("", {entry("e", 'd')}), Lines{});
  EXPECT_EQ(list("e", {entry("g", 'f')}), Lines{"create e/g"});
}

TEST_F(ToldTest, DirectoryAndLinkSwap) {
  list("", {entry("d", 'd')});
  list("d", {entry("f", 'f')});
  EXPECT_EQ(list("", {entry("d", 'l')}), (Lines{"delete d/f", "create d"}));
  EXPECT_EQ(list("", {entry("d", 'd')}), Lines{"delete d"});
  EXPECT_EQ(list("d", {entry("f", 'f')}), Lines{"create d/f"});
}

TEST_F(ToldTest, AllNamesOfAFile_AreComparedByThemselves) {  // A12
  Entry a = entry("a", 'f'), b = entry("b", 'f');
  a.seen.inode = b.seen.inode = 7;
  list("", {a, b});
  a.seen.mtime_ns = b.seen.mtime_ns = 9;
  EXPECT_EQ(list("", {a, b}), (Lines{"change a", "change b"}));
  EXPECT_EQ(list("", {b}), Lines{"delete a"});
}

TEST_F(ToldTest, Rescan_LeavesTheTreeToTheNextListings) {  // W5
  list("", {entry("a", 'f')});
  EXPECT_EQ(lines(judge_.rescan()), Lines{"rescan"});
  EXPECT_EQ(list("", {entry("a", 'f')}), Lines{});
}

}  // namespace sandglass::watch::testing
