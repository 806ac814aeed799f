#include "base/replace.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "support/temp_dir.h"

namespace sandglass {
namespace {

class Replace : public ::testing::Test {
 protected:
  Replace() : root_(*Root::open(dir_.path())) {}

  std::optional<struct stat> look(const std::string& path) { return *look_below(root_, path); }
  mode_t mode(const std::string& path) { return look(path)->st_mode & 07777; }
  // Nothing of the temporary names may stay.
  size_t entries() {
    return static_cast<size_t>(
        std::distance(std::filesystem::recursive_directory_iterator(dir_.path()), {}));
  }

  testing::TempDir dir_;
  Root root_;
};

TEST_F(Replace, NothingThere_MakesItWithItsDirectories) {
  ASSERT_TRUE(replace_below(root_, "a/b/f", {S_IFREG | 0755, "x"}, {}));
  EXPECT_EQ(dir_.read("a/b/f"), "x");
  EXPECT_TRUE(mode("a/b/f") & 0100);
  ASSERT_TRUE(replace_below(root_, "a/l", {S_IFLNK, "b/f"}, {}));
  EXPECT_EQ(std::filesystem::read_symlink(dir_ / "a/l"), "b/f");
  EXPECT_EQ(entries(), 4u);
}

TEST_F(Replace, FileThere_KeepsItsPermissionsButForExecution) {
  dir_.write("f", "old");
  ASSERT_EQ(::chmod((dir_ / "f").c_str(), 0640), 0);
  ASSERT_TRUE(replace_below(root_, "f", {S_IFREG | 0755, "new"}, look("f")));
  EXPECT_EQ(dir_.read("f"), "new");
  EXPECT_EQ(mode("f"), 0750u);
  ASSERT_TRUE(replace_below(root_, "f", {S_IFREG | 0644, "new"}, look("f")));
  EXPECT_EQ(mode("f"), 0640u);
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Replace, ChangedSinceTheLook_IsLeftAsItIs) {
  dir_.write("f", "old");
  const auto before = look("f");
  dir_.write("f", "somebody's");
  const Status done = replace_below(root_, "f", {S_IFREG | 0644, "ours"}, before);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().fault, Fault::busy);
  EXPECT_EQ(dir_.read("f"), "somebody's");
  EXPECT_FALSE(replace_below(root_, "f", {S_IFREG | 0644, "ours"}, {}));
  EXPECT_FALSE(remove_below(root_, "f", *before));
  EXPECT_EQ(dir_.read("f"), "somebody's");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Replace, LinkOnTheWay_IsNotFollowed) {  // B9
  testing::TempDir outside;
  std::filesystem::create_symlink(outside.path(), dir_ / "out");
  EXPECT_FALSE(replace_below(root_, "out/f", {S_IFREG | 0644, "x"}, {}));
  EXPECT_FALSE(replace_below(root_, "../f", {S_IFREG | 0644, "x"}, {}));
  EXPECT_TRUE(std::filesystem::is_empty(outside.path()));
  // A link at the name itself is replaced, not written through.
  outside.write("target", "theirs");
  std::filesystem::create_symlink(outside / "target", dir_ / "l");
  ASSERT_TRUE(replace_below(root_, "l", {S_IFREG | 0644, "x"}, look("l")));
  EXPECT_EQ(outside.read("target"), "theirs");
  EXPECT_EQ(dir_.read("l"), "x");
}

TEST_F(Replace, Remove_TakesEmptyDirectoriesAlong) {
  dir_.write("a/b/c/f", "x");
  dir_.write("a/g", "y");
  ASSERT_TRUE(remove_below(root_, "a/b/c/f", *look("a/b/c/f")));
  EXPECT_FALSE(look("a/b"));
  EXPECT_EQ(dir_.read("a/g"), "y");
  EXPECT_FALSE(remove_below(root_, "a", *look("a")));
}

}  // namespace
}  // namespace sandglass
