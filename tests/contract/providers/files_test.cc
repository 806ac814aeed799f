// Files of a sandbox through the provider. Names and links are the agent's: nothing leads outside.
#include <sys/stat.h>

#include <algorithm>

#include "contract/providers/provider.h"

namespace sandglass::contract {
namespace {

TEST_P(Provider, Write_ThenRead_IsTheSame) {
  const std::string bytes("a\0b\xff\n", 5);
  ASSERT_TRUE(box.write("/workspace/a.bin", bytes, 0755));
  EXPECT_EQ(*box.read("/workspace/a.bin"), bytes);
  EXPECT_EQ(*box.read("a.bin", 1, 2), std::string("\0b", 2));
  EXPECT_EQ(*box.read("a.bin", 100, 2), "");
  EXPECT_EQ(box.stat("a.bin")->mode & 07777, 0755u);
  EXPECT_EQ(box.stat("a.bin")->size, 5u);
  EXPECT_EQ(box.stat("a.bin")->type, 'f');
}

TEST_P(Provider, Write_ThatFailsHalfWay_LeavesWhatWasThere) {
  ASSERT_TRUE(box.write("f", "old"));
  const Status failed = box.write("f", std::string(200'000, 'x'), 0644, 'f', 1);
  ASSERT_FALSE(failed);
  EXPECT_EQ(*box.read("f"), "old");
  EXPECT_EQ(box.list_dir("")->size(), 1u) << "the temporary file must be gone";
}

TEST_P(Provider, Write_OverALink_ReplacesTheLink) {
  testing::TempDir outside;
  outside.write("precious", "untouched");
  ASSERT_EQ(::symlink((outside / "precious").c_str(), (box.dir() / "l").c_str()), 0);
  ASSERT_TRUE(box.write("l", "new"));
  EXPECT_EQ(outside.read("precious"), "untouched");
  EXPECT_EQ(box.stat("l")->type, 'f');
}

TEST_P(Provider, Write_LinkAndDirectory_AreMade) {
  ASSERT_TRUE(box.write("d", "", 0750, 'd'));
  ASSERT_TRUE(box.write("d", "", 0755, 'd')) << "one that is there only gets its mode";
  ASSERT_TRUE(box.write("d/l", "../elsewhere", 0, 'l'));
  EXPECT_EQ(box.stat("d")->mode & 07777, 0755u);
  EXPECT_EQ(box.stat("d/l")->type, 'l');
  EXPECT_EQ(box.stat("d/l")->target, "../elsewhere");
  EXPECT_FALSE(box.write("s", "", 0644, 'o'));
}

TEST_P(Provider, Paths_ThatLeave_AreRefused) {
  testing::TempDir outside;
  outside.write("secret", "secret");
  ASSERT_EQ(::symlink(outside.path().c_str(), (box.dir() / "out").c_str()), 0);
  ASSERT_EQ(::symlink((outside / "secret").c_str(), (box.dir() / "link").c_str()), 0);
  for (const std::string path :
       {"out/secret", "../secret", "/workspace/../x", "/etc/passwd", "a/../../x", "link"}) {
    EXPECT_FALSE(box.read(path)) << path;
  }
  for (const std::string path : {"out/secret", "out/new", "../new", "/etc/new", "/workspace", ""}) {
    EXPECT_FALSE(box.write(path, "x")) << path;
    EXPECT_FALSE(box.remove(path)) << path;
  }
  EXPECT_FALSE(box.list_dir("out"));
  EXPECT_EQ(outside.read("secret"), "secret");
  EXPECT_FALSE(std::filesystem::exists(outside / "new"));
}

TEST_P(Provider, Read_FifoOrDirectory_IsRefusedWithoutHanging) {
  ASSERT_EQ(::mkfifo((box.dir() / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(box.read("fifo").error().fault, Fault::invalid);
  EXPECT_EQ(box.stat("fifo")->type, 'o');
  EXPECT_EQ(box.read("").error().fault, Fault::denied);
}

TEST_P(Provider, ListDir_OddNames_ArriveExactly) {
  const std::vector<std::string> names = {"a\nb", "\xff", "-rf", "..x", "sp ace", "*"};
  for (const std::string& name : names) box.dir().write(name, "1");
  auto listed = box.list_dir("/workspace");
  ASSERT_TRUE(listed) << listed.error().text;
  std::vector<std::string> got;
  for (const Entry& entry : *listed) got.push_back(entry.name);
  EXPECT_THAT(got, ::testing::UnorderedElementsAreArray(names));
}

TEST_P(Provider, ListDir_Large_IsWhole) {
  for (int i = 0; i < 3000; ++i) box.dir().write("n" + std::to_string(i), "");
  EXPECT_EQ(box.list_dir("")->size(), 3000u);
}

TEST_P(Provider, Missing_IsNotFound) {
  EXPECT_EQ(box.read("none").error().fault, Fault::not_found);
  EXPECT_EQ(box.stat("none").error().fault, Fault::not_found);
  EXPECT_EQ(box.list_dir("none").error().fault, Fault::not_found);
  EXPECT_EQ(box.remove("none").error().fault, Fault::not_found);
  EXPECT_EQ(box.write("none/f", "x").error().fault, Fault::not_found);
}

TEST_P(Provider, Remove_FileLinkAndEmptyDirectory_AreRemoved) {
  box.dir().write("f", "");
  box.dir().write("full/f", "");
  ASSERT_EQ(::symlink("full", (box.dir() / "l").c_str()), 0);
  EXPECT_TRUE(box.remove("f"));
  EXPECT_TRUE(box.remove("l"));
  EXPECT_FALSE(box.remove("full"));
  EXPECT_TRUE(box.remove("full/f"));
  EXPECT_TRUE(box.remove("full"));
  EXPECT_TRUE(box.list_dir("")->empty());
}

TEST_P(Provider, Stat_Root_IsADirectory) {
  EXPECT_EQ(box.stat("/workspace")->type, 'd');
  EXPECT_EQ(box.stat("")->type, 'd');
}

}  // namespace
}  // namespace sandglass::contract
