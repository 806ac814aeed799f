// The table of spec section 5, rows T1 to T15 and T17, as a table.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <iomanip>
#include <iostream>

#include "base/text.h"
#include "repo.h"

namespace sandglass::git {

namespace {

using S = PieceState;

struct Cell {
  S state;
  std::string bytes;  // exact, or for a patch what it must contain
};
struct Row {
  const char* rule;
  std::string path;
  Cell before, after, diff;
};

class Table {
 public:
  explicit Table(Content& content) : content_(content) {
    std::cout << std::left << std::setw(5) << "rule" << std::setw(12) << "path" << std::setw(22)
              << "before()" << std::setw(22) << "after()"
              << "diff()\n";
  }

  void check(const Row& row) {
    const Piece before = content_.get(row.path, Which::before);
    const Piece after = content_.get(row.path, Which::after);
    const Piece diff = content_.get(row.path, Which::diff);
    std::cout << std::setw(5) << row.rule << std::setw(12) << shown(row.path) << std::setw(22)
              << cell(before) << std::setw(22) << cell(after) << cell(diff) << "\n";
    const std::string where = std::string(row.rule) + " " + row.path;
    same(before, row.before, where + " before()");
    same(after, row.after, where + " after()");
    EXPECT_EQ(diff.state, row.diff.state) << where;
    if (row.diff.bytes.empty())
      EXPECT_EQ(diff.bytes, "") << where;
    else
      EXPECT_NE(diff.bytes.find(row.diff.bytes), std::string::npos) << where << "\n" << diff.bytes;
  }

 private:
  static std::string cell(const Piece& piece) {
    std::string text = piece.bytes.starts_with("diff --git")
                           ? std::to_string(piece.bytes.size()) + " bytes of patch"
                           : "'" + shown(piece.bytes.substr(0, 8)) + "'";
    return std::string(name_of(piece.state)) + " " + text;
  }
  static void same(const Piece& piece, const Cell& cell, const std::string& where) {
    EXPECT_EQ(piece.state, cell.state) << where;
    EXPECT_EQ(piece.bytes, cell.bytes) << where;
  }
  Content& content_;
};

}  // namespace

TEST(ContentTable, GitWorkspace_EachRowAsSpecified) {  // T1 to T5, T8 to T15
  const Repo repo;
  const std::string zero("\0z\n", 3), big(2000, 'x');
  for (const char* name : {"changed", "same", "deleted", "mode", "dir-to-be"})
    repo.write(name, "old\n");
  repo.write("bin", zero);
  repo.write("big", big);
  repo.write("was-dir/inner", "old\n");
  repo.write("forced.env", "old\n");
  repo.write(".gitignore", "*.env\n");
  ASSERT_EQ(::symlink("old-target", (repo / "link").c_str()), 0);
  repo.git({"add", "-f", "forced.env"});
  repo.commit_all();
  ContentOptions options;
  options.size_cap = 1000;
  const auto content = open_content(repo.path(), options);

  repo.write("changed", "new\n");
  repo.remove("deleted");
  repo.write("untracked", "new\n");
  repo.write("secret.env", "K=1\n");
  repo.write("forced.env", "new\n");
  repo.write("empty", "");
  ::chmod((repo / "mode").c_str(), 0755);
  repo.remove("link");
  ASSERT_EQ(::symlink("new-target", (repo / "link").c_str()), 0);
  repo.remove("dir-to-be");
  repo.write("dir-to-be/inner", "new\n");
  repo.remove("was-dir");
  repo.write("was-dir", "new\n");
  repo.write("bin", zero + "more");
  repo.write("big", big + "y");

  const Cell old_text{S::here, "old\n"}, new_text{S::here, "new\n"}, absent{S::absent, ""};
  Table table(*content);
  table.check({"T1", "changed", old_text, new_text, {S::here, "@@ -1 +1 @@\n-old\n+new\n"}});
  table.check({"T2", "same", old_text, old_text, {S::same, ""}});
  table.check({"T3", "untracked", absent, new_text, {S::here, "@@ -0,0 +1 @@\n+new\n"}});
  table.check({"T4", "deleted", old_text, absent, {S::here, "deleted file mode 100644\n"}});
  table.check({"T5", "never", absent, absent, absent});
  table.check({"T8", "secret.env", absent, {S::here, "K=1\n"}, {S::ignored, ""}});
  table.check({"T9", "forced.env", old_text, new_text, {S::here, "-old\n+new\n"}});
  table.check({"T10", "empty", absent, {S::here, ""}, {S::here, "new file mode 100644\nindex 0"}});
  table.check({"T11", "mode", old_text, old_text, {S::here, "old mode 100644\nnew mode 100755\n"}});
  table.check(
      {"T12", "link", {S::here, "old-target"}, {S::here, "new-target"}, {S::here, " 120000\n"}});
  table.check({"T13", "dir-to-be", old_text, absent, {S::here, "deleted file mode 100644\n"}});
  table.check({"T13", "was-dir", absent, new_text, {S::here, "new file mode 100644\n"}});
  table.check({"T13", "was-dir/inner", old_text, absent, {S::here, "deleted file mode 100644\n"}});
  table.check({"T14",
               "bin",
               {S::here, zero},
               {S::here, zero + "more"},
               {S::here, "Binary files a/bin and b/bin differ\n"}});
  table.check({"T15",
               "big",
               {S::too_large, big.substr(0, 1000)},
               {S::too_large, big.substr(0, 1000)},
               {S::too_large, ""}});
  EXPECT_EQ(content->get("big", Which::before).full_size, 2000u);
  EXPECT_EQ(content->get("big", Which::diff).full_size, 2001u);
  EXPECT_EQ(content->get("link", Which::after).flags, piece_symlink);
  EXPECT_EQ(content->get("mode", Which::diff).flags, piece_executable);
  EXPECT_EQ(content->get("bin", Which::diff).flags, piece_binary);
  EXPECT_EQ(content->get("deleted", Which::diff).mode, 0100644u);
}

TEST(ContentTable, NoGit_EachRowAsSpecified) {  // T6, T7, T10
  testing::TempDir dir;
  const auto content = open_content(dir.path());
  dir.write("new", "text\n");
  dir.write("empty", "");
  dir.write(".gitignore", "new\n");  // means nothing without git
  const Cell none{S::no_baseline, ""};
  Table table(*content);
  table.check({"T6", "new", none, {S::here, "text\n"}, {S::here, "@@ -0,0 +1 @@\n+text\n"}});
  table.check({"T7", "gone", none, {S::absent, ""}, {S::absent, ""}});
  table.check({"T10", "empty", none, {S::here, ""}, {S::here, "new file mode 100644\nindex 0"}});
}

TEST(ContentTable, WorkspaceBelowTheRoot_RightBlobAndShortPath) {  // T17, B10
  const Repo repo;
  repo.write("sub/ws/f", "old\n");
  repo.write("f", "another\n");
  repo.write(".gitignore", "*.log\n");
  repo.commit_all();
  const auto content = open_content(repo / "sub/ws");
  repo.write("sub/ws/f", "new\n");
  repo.write("sub/ws/x.log", "l\n");
  Table table(*content);
  table.check(
      {"T17", "f", {S::here, "old\n"}, {S::here, "new\n"}, {S::here, "--- a/f\n+++ b/f\n"}});
  table.check({"T17", "x.log", {S::absent, ""}, {S::here, "l\n"}, {S::ignored, ""}});
  EXPECT_EQ(content->get("f", Which::diff).bytes,
            run_git(repo / "sub/ws", {"diff", "--full-index", "--no-renames", "--relative"}).out);
}

}  // namespace sandglass::git
