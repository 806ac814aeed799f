#include "base/below.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "support/temp_dir.h"

namespace sandglass {

using testing::TempDir;

TEST(Below, Read_LinksOutOfTheRoot_AreNeverFollowed) {  // B9
  TempDir dir, outside;
  outside.write("secret", "s");
  ASSERT_EQ(::symlink(outside.path().c_str(), (dir / "out").c_str()), 0);
  ASSERT_EQ(::symlink((outside / "secret").c_str(), (dir / "link").c_str()), 0);
  auto root = Root::open(dir.path());
  ASSERT_TRUE(root);
  EXPECT_FALSE(root->read("out/secret", 100));
  EXPECT_FALSE(root->read("../" + outside.path().substr(5) + "/secret", 100));
  auto link = root->read("link", 1000);  // the link's own text
  ASSERT_TRUE(link);
  EXPECT_EQ(link->bytes, outside / "secret");
}

TEST(Below, Read_Fifo_IsRefusedWithoutHanging) {  // B9
  TempDir dir;
  ASSERT_EQ(::mkfifo((dir / "fifo").c_str(), 0600), 0);
  auto root = Root::open(dir.path());
  ASSERT_TRUE(root);
  auto got = root->read("fifo", 100);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().fault, Fault::invalid);
}

TEST(Below, Read_OverTheCap_SaysTheFullSize) {
  TempDir dir;
  dir.write("big", std::string(1000, 'x'));
  auto root = Root::open(dir.path());
  auto got = root->read("big", 10);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->bytes.size(), 10u);
  EXPECT_EQ(got->full_size, 1000u);
  EXPECT_EQ(root->read("big", 1000)->bytes.size(), 1000u);
}

TEST(Below, Read_Missing_IsNotFound) {
  TempDir dir;
  auto root = Root::open(dir.path());
  EXPECT_EQ(root->read("a/b", 10).error().fault, Fault::not_found);
}

}  // namespace sandglass
