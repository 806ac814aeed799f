#include "git/ignore.h"

#include <gtest/gtest.h>

namespace sandglass::git {

namespace {

bool ignored(std::string_view patterns, std::string_view path, bool is_directory = false) {
  IgnoreSet set;
  const auto root = IgnoreFile::parse(patterns);
  set.of_directory = [&](std::string_view directory) { return directory.empty() ? root : nullptr; };
  const auto match = check_ignore(set, path, is_directory);
  return match && match->ignored;
}

}  // namespace

TEST(Ignore, Name_AnyDepth) {
  EXPECT_TRUE(ignored(".env\n", ".env"));
  EXPECT_TRUE(ignored(".env\n", "deep/down/.env"));
  EXPECT_FALSE(ignored("/.env\n", "deep/.env"));
  EXPECT_FALSE(ignored(".env\n", ".envrc"));
}

TEST(Ignore, Negation_CannotReopenAnIgnoredDirectory) {
  EXPECT_TRUE(ignored("build/\n!build/keep\n", "build/keep"));
  EXPECT_FALSE(ignored("build/*\n!build/keep\n", "build/keep"));
  EXPECT_TRUE(ignored("*\n!*.c\n", "a/b.c"));
  EXPECT_FALSE(ignored("*\n!*/\n!*.c\n", "a/b.c"));
}

TEST(Ignore, TrailingSlash_OnlyDirectories) {
  EXPECT_FALSE(ignored("out/\n", "out"));
  EXPECT_TRUE(ignored("out/\n", "out", true));
  EXPECT_TRUE(ignored("out/\n", "out/a"));
}

TEST(Ignore, Escapes_AndTrailingBlanks) {
  EXPECT_TRUE(ignored("\\!x\n", "!x"));
  EXPECT_TRUE(ignored("\\#x\n", "#x"));
  EXPECT_TRUE(ignored("a\\ \n", "a "));
  EXPECT_TRUE(ignored("a   \n", "a"));
  EXPECT_TRUE(ignored("a\r\n", "a"));
  EXPECT_TRUE(
      ignored("\xef\xbb\xbf"
              "a",
              "a"));
}

TEST(Wildmatch, Stars_CrossSlashesOnlyWhenDoubleAndAlone) {
  const auto path = [](const char* pattern, const char* text) {
    return Wildmatch(pattern, Wildmatch::Mode::path).matches(text);
  };
  EXPECT_TRUE(path("a/**/b", "a/b"));
  EXPECT_TRUE(path("a/**/b", "a/x/y/b"));
  EXPECT_FALSE(path("a/**b", "a/x/b"));
  EXPECT_FALSE(path("*", "a/b"));
  EXPECT_TRUE(path("**", "a/b"));
  EXPECT_TRUE(path("**/c", "c"));
  EXPECT_FALSE(path("[!a]", "/"));
}

// A pattern from the sandbox must not cost exponential time.
TEST(Wildmatch, ManyStars_AreLinear) {
  std::string pattern, text(4000, 'a');
  for (int i = 0; i < 200; i++) pattern += "*a";
  EXPECT_FALSE(Wildmatch(pattern + "*b", Wildmatch::Mode::path).matches(text));
  std::string deep;
  for (int i = 0; i < 200; i++) deep += "**/";
  EXPECT_FALSE(Wildmatch(deep + "b", Wildmatch::Mode::path).matches(text + "/a/a/a/a/a"));
}

}  // namespace sandglass::git
