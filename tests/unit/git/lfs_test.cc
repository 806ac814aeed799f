// Row T16a: files kept by Git LFS. The store is made by hand, as `git lfs` lays it out.
#include "git/lfs.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "repo.h"

namespace sandglass::git {

namespace {

std::string pointer_to(const std::string& content) {
  return "version https://git-lfs.github.com/spec/v1\noid sha256:" + sha256_hex(content) +
         "\nsize " + std::to_string(content.size()) + "\n";
}

std::string stored_at(const std::string& content) {
  const LfsPointer pointer{sha256_hex(content), content.size()};
  return ".git/lfs/objects/" + path_in_store(pointer);
}

class Lfs : public ::testing::Test {
 protected:
  // A commit of the pointer, the content in the working tree and in the store.
  void start(const std::string& content) {
    repo_.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n");
    repo_.write("a.bin", pointer_to(content));
    repo_.commit_all();
    repo_.write(stored_at(content), content);
    repo_.write("a.bin", content);
  }
  const Repo repo_;
};

}  // namespace

TEST(LfsPointer, Parse_IsStrict) {
  const std::string good = pointer_to("x");
  ASSERT_TRUE(parse_lfs_pointer(good));
  EXPECT_EQ(*parse_lfs_pointer(good), (LfsPointer{sha256_hex("x"), 1}));
  for (const std::string& bad :
       {std::string(), good + "\n", good + "x", good.substr(1), good.substr(0, good.size() - 1),
        std::string(good).replace(good.find("sha256"), 6, "sha512"),
        std::string(good).replace(good.find("size 1"), 6, "size 01"),
        std::string(good).replace(good.find("size 1"), 6, "size -1"),
        std::string(good).replace(good.find("size 1"), 6, "size 99999999999999999999999"),
        std::string(good).replace(good.find("size 1"), 6, "size "),
        std::string(good).replace(good.find('\n'), 1, "\r\n"),
        std::string(good).replace(good.find("oid"), 3, "ext-0-x sha256:1\noid")})
    EXPECT_FALSE(parse_lfs_pointer(bad)) << bad;
}

TEST_F(Lfs, UntouchedFile_IsTheSame) {  // T16a, T2
  start("content\n");
  const auto content = open_content(repo_.path());
  EXPECT_EQ(content->get("a.bin", Which::diff).state, PieceState::same);
  EXPECT_EQ(content->get("a.bin", Which::before).bytes, "content\n");
  EXPECT_EQ(content->get("a.bin", Which::before).flags & piece_lfs_pointer, 0u);
  ::chmod((repo_ / "a.bin").c_str(), 0755);
  EXPECT_EQ(content->get("a.bin", Which::diff).bytes,
            "diff --git a/a.bin b/a.bin\nold mode 100644\nnew mode 100755\n");
}

TEST_F(Lfs, ChangedFile_ComparesTheContent) {  // T16a
  start("one\ntwo\n");
  const auto content = open_content(repo_.path());
  repo_.write("a.bin", "one\nTWO\n");
  const std::string patch = content->get("a.bin", Which::diff).bytes;
  EXPECT_TRUE(patch.ends_with("@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n")) << patch;
  repo_.write("a.bin", "one\ntwo\n");
  repo_.git({"apply", "-"}, patch);
  EXPECT_EQ(repo_.read("a.bin"), "one\nTWO\n");
}

TEST_F(Lfs, ContentNotInTheStore_GivesThePointerAndSaysSo) {  // T16a
  start("content\n");
  repo_.remove(".git/lfs");
  const auto content = open_content(repo_.path());
  const Piece before = content->get("a.bin", Which::before);
  EXPECT_EQ(before.bytes, pointer_to("content\n"));
  EXPECT_EQ(before.flags & piece_lfs_pointer, piece_lfs_pointer);
  EXPECT_EQ(content->get("a.bin", Which::diff).state, PieceState::same);  // the oid suffices
  repo_.write("a.bin", "other\n");
  const Piece diff = content->get("a.bin", Which::diff);
  EXPECT_EQ(diff.flags & piece_lfs_pointer, piece_lfs_pointer);
  EXPECT_NE(diff.bytes.find("-size 8\n+other\n"), std::string::npos) << diff.bytes;
}

TEST_F(Lfs, ForgedStore_IsNotBelieved) {  // T16a, B2, B9
  start("content\n");
  const auto content = open_content(repo_.path());
  const std::string place = stored_at("content\n");
  repo_.write(place, "forged!\n");
  EXPECT_EQ(content->get("a.bin", Which::before).bytes, pointer_to("content\n"));
  testing::TempDir outside;
  outside.write("same", "content\n");
  repo_.remove(place);
  ASSERT_EQ(::symlink((outside / "same").c_str(), (repo_ / place).c_str()), 0);
  EXPECT_EQ(content->get("a.bin", Which::before).bytes, pointer_to("content\n"));
  repo_.remove(place);
  ASSERT_EQ(::mkfifo((repo_ / place).c_str(), 0600), 0);
  EXPECT_EQ(content->get("a.bin", Which::before).bytes, pointer_to("content\n"));
}

TEST_F(Lfs, LargerThanTheCap_IsHashedInParts) {  // T16a, T15
  const std::string big = std::string(3'000'000, 'x') + "end";
  start(big);
  ContentOptions options;
  options.size_cap = 1'000'000;
  const auto content = open_content(repo_.path(), options);
  EXPECT_EQ(content->get("a.bin", Which::diff).state, PieceState::same);
  const Piece before = content->get("a.bin", Which::before);
  EXPECT_EQ(before.state, PieceState::too_large);
  EXPECT_EQ(before.full_size, big.size());
  EXPECT_EQ(before.bytes.size(), 1'000'000u);
  repo_.write("a.bin", big.substr(1) + "x");
  EXPECT_EQ(content->get("a.bin", Which::diff).state, PieceState::too_large);
}

TEST_F(Lfs, CheckoutWithoutLfs_ComparesPointers) {  // T16a
  start("content\n");
  const auto content = open_content(repo_.path());
  repo_.write("a.bin", pointer_to("content\n"));
  EXPECT_EQ(content->get("a.bin", Which::diff).state, PieceState::same);
  repo_.write("a.bin", pointer_to("another\n"));
  EXPECT_EQ(content->get("a.bin", Which::diff).bytes,
            repo_.git({"diff", "--full-index", "--no-renames", "a.bin"}));
}

}  // namespace sandglass::git
