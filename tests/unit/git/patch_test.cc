#include "git/patch.h"

#include <gtest/gtest.h>

#include <ctime>

#include "fuzz/unpatch.h"
#include "git/quote.h"
#include "repo.h"

namespace sandglass::git {

static std::string patch(std::string_view path, std::optional<Side> before,
                         std::optional<Side> after) {
  return make_patch(path, before, after).value();
}

TEST(Patch, NewFile_IsGitsAddPatch) {  // T3
  EXPECT_EQ(
      patch("n.txt", std::nullopt, Side{0100644, "one\ntwo\n"}),
      "diff --git a/n.txt b/n.txt\n"
      "new file mode 100644\n"
      "index 0000000000000000000000000000000000000000..814f4a422927b82f5f8a43f8fab6d3839e3983f2\n"
      "--- /dev/null\n"
      "+++ b/n.txt\n"
      "@@ -0,0 +1,2 @@\n"
      "+one\n"
      "+two\n");
}

TEST(Patch, EmptyFile_HasOnlyTheHeader) {  // T10
  EXPECT_EQ(patch("e", std::nullopt, Side{0100644, ""}),
            "diff --git a/e b/e\n"
            "new file mode 100644\n"
            "index 0000000000000000000000000000000000000000.."
            "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391\n");
}

TEST(Patch, ModeOnly_HasNoIndexLine) {  // T11
  EXPECT_EQ(patch("s", Side{0100644, "x\n"}, Side{0100755, "x\n"}),
            "diff --git a/s b/s\nold mode 100644\nnew mode 100755\n");
}

TEST(Patch, NothingChanged_IsEmpty) {
  EXPECT_EQ(patch("s", Side{0100644, "x\n"}, Side{0100644, "x\n"}), "");
  EXPECT_EQ(patch("s", std::nullopt, std::nullopt), "");
}

TEST(Patch, MissingNewline_IsMarkedOnBothSides) {  // B13
  const std::string text = patch("f", Side{0100644, "a\nb"}, Side{0100644, "a\nc"});
  EXPECT_NE(text.find("-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n"),
            std::string::npos)
      << text;
}

TEST(Patch, Names_AreQuotedAndTabbedAsGitDoes) {  // B1
  const std::string text = patch("\xc3\xa4 b", std::nullopt, Side{0100644, "x\n"});
  EXPECT_TRUE(text.starts_with("diff --git \"a/\\303\\244 b\" \"b/\\303\\244 b\"\n")) << text;
  EXPECT_NE(text.find("+++ \"b/\\303\\244 b\"\t\n"), std::string::npos) << text;
}

TEST(Patch, Binary_SaysSoOrCarriesTheBytes) {  // T14
  const std::string zero("a\0b", 3);
  EXPECT_TRUE(patch("b", Side{0100644, "x"}, Side{0100644, zero})
                  .ends_with("Binary files a/b and b/b differ\n"));
  EXPECT_TRUE(is_binary(std::string(7999, 'x') + '\0'));
  EXPECT_FALSE(is_binary(std::string(8000, 'x') + '\0'));
}

static std::string numbered_lines(int count, int step) {
  std::string out;
  for (int i = 0; i < count; i++) out += std::to_string(i * step % 1'000'003) + "\n";
  return out;
}

// Large texts: each pair's patch makes the second of the first.
TEST(Patch, ManyLines_IsBoundedAndApplies) {  // T15, case B15
  const std::string lines = numbered_lines(400'000, 1), empty_lines(5'000'000, '\n');
  std::string one = lines, hole = empty_lines;
  one.replace(one.find("\n200000\n"), 8, "\nother\n");
  hole[2'500'000] = 'x';
  const std::pair<std::string, std::string> pairs[] = {
      {lines, one},
      {lines, one + "end"},
      {"first\n" + lines, lines},
      {empty_lines, hole},
      {"", empty_lines},
      {empty_lines, ""},
      {lines, numbered_lines(400'000, 7)},
      {lines + "tail", numbered_lines(300'000, 11) + "tail"},
      {"a\nb\nc\nd\ne\n" + lines + "v\nw\nx\ny\nz\n",
       "a\nb\nc\nd\ne\n" + numbered_lines(300'000, 13) + "v\nw\nx\ny\nz\n"}};
  const Repo repo;
  for (const auto& [before, after] : pairs) {
    const std::clock_t start = std::clock();
    const std::string text = patch("f", Side{0100644, before}, Side{0100644, after});
    EXPECT_LT(std::clock() - start, 2 * CLOCKS_PER_SEC);
    EXPECT_EQ(fuzz::Unpatch(text, before).apply("f"), after);
    repo.write("f", before);
    repo.git({"apply", "--whitespace=nowarn", "-"}, text);
    EXPECT_TRUE(repo.read("f") == after);
  }
}

TEST(Quote, AnyName_SurvivesTheWayBack) {
  std::string all;
  for (int c = 1; c < 256; c++) all += static_cast<char>(c);
  EXPECT_EQ(unquote_name(quote_name(all)), all);
  EXPECT_EQ(quote_name("plain name"), "plain name");
  EXPECT_EQ(unquote_name("\"a\"b\""), std::nullopt);
  EXPECT_EQ(unquote_name("\"a\\"), std::nullopt);
  EXPECT_EQ(unquote_name("\"\\12\""), std::nullopt);
}

}  // namespace sandglass::git
