#include "plugin/trust.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "support/temp_dir.h"

namespace sandglass::plugin {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string refusal(const std::string& path) {
  const auto opened = open_trusted(path);
  return opened ? "accepted" : opened.error().text;
}

TEST(Trust, OwnFile_Opened_IsAccepted) {
  const testing::TempDir dir;
  dir.write("p.so", "x");
  ASSERT_EQ(::chmod((dir / "p.so").c_str(), 0755), 0);
  EXPECT_EQ(refusal(dir / "p.so"), "accepted");
}

TEST(Trust, MissingFile_Opened_SaysSo) {
  const testing::TempDir dir;
  EXPECT_THAT(refusal(dir / "none.so"), HasSubstr("No such file"));
}

TEST(Trust, WorldWritable_Opened_NamesTheCure) {
  const testing::TempDir dir;
  dir.write("p.so", "x");
  ASSERT_EQ(::chmod((dir / "p.so").c_str(), 0777), 0);
  EXPECT_THAT(refusal(dir / "p.so"), AllOf(HasSubstr("can be written by everyone"),
                                           HasSubstr("chmod go-w " + (dir / "p.so"))));
}

TEST(Trust, WorldWritableFolder_Opened_IsRefusedUnlessSticky) {
  const testing::TempDir dir;
  dir.write("open/p.so", "x");
  ASSERT_EQ(::chmod((dir / "open").c_str(), 0777), 0);
  EXPECT_THAT(refusal(dir / "open/p.so"), HasSubstr("its folder can be written by everyone"));
  ASSERT_EQ(::chmod((dir / "open").c_str(), 01777), 0);
  EXPECT_EQ(refusal(dir / "open/p.so"), "accepted");
}

TEST(Trust, LinkIntoOpenFolder_Opened_IsJudgedByItsTarget) {
  const testing::TempDir dir;
  dir.write("open/p.so", "x");
  ASSERT_EQ(::chmod((dir / "open").c_str(), 0777), 0);
  ASSERT_EQ(::symlink("open/p.so", (dir / "link.so").c_str()), 0);
  EXPECT_THAT(refusal(dir / "link.so"), HasSubstr("its folder can be written"));
}

TEST(Trust, ForeignGroupWritable_Opened_IsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file to a group it is not in";
  const testing::TempDir dir;
  dir.write("p.so", "x");
  ASSERT_EQ(::chown((dir / "p.so").c_str(), 0, 12345), 0);
  ASSERT_EQ(::chmod((dir / "p.so").c_str(), 0775), 0);
  EXPECT_THAT(refusal(dir / "p.so"), AllOf(HasSubstr("by its group"), HasSubstr("chmod g-w")));
}

TEST(Trust, ForeignOwner_Opened_IsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  const testing::TempDir dir;
  dir.write("p.so", "x");
  ASSERT_EQ(::chown((dir / "p.so").c_str(), 12345, 0), 0);
  EXPECT_THAT(refusal(dir / "p.so"),
              AllOf(HasSubstr("belongs to user 12345"), HasSubstr("chown root")));
}

TEST(Trust, Fifo_Opened_DoesNotBlock) {
  const testing::TempDir dir;
  ASSERT_EQ(::mkfifo((dir / "p.so").c_str(), 0600), 0);
  EXPECT_EQ(refusal(dir / "p.so"), "accepted");  // the look into it refuses it
}

TEST(Trust, Pin_Checked_ComparesTheBytes) {
  const testing::TempDir dir;
  dir.write("p.so", "plugin");
  const auto opened = open_trusted(dir / "p.so");
  ASSERT_TRUE(opened) << opened.error().text;
  const std::string pin = sha256_hex("plugin");
  EXPECT_TRUE(check_pin(opened->fd.get(), pin));
  EXPECT_TRUE(check_pin(opened->fd.get(), "sha256:" + pin));
  const auto other = check_pin(opened->fd.get(), sha256_hex("another"));
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().text, AllOf(HasSubstr(pin), HasSubstr(sha256_hex("another"))));
  EXPECT_THAT(check_pin(opened->fd.get(), "abc").error().text, HasSubstr("64 hex digits"));
}

}  // namespace
}  // namespace sandglass::plugin
