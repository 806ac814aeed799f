// What only the provider `local` promises.
#include <filesystem>
#include <mutex>
#include <thread>

#include "base/log.h"
#include "contract/providers/provider.h"

namespace sandglass::contract {
namespace {

TEST(Local, Create_WithoutADirectory_SaysWhatToSet) {
  Box box("local");
  EXPECT_NE(box.create("").error().text.find("workspace.source.local"), std::string::npos);
  EXPECT_EQ(box.create("/no/such/dir").error().fault, Fault::not_found);
  box.dir().write("f", "");
  EXPECT_FALSE(box.create(box.dir() / "f"));
  EXPECT_EQ(box.create(box.dir().path(), "{}", "snap").error().fault, Fault::unsupported);
  EXPECT_FALSE(box.create(box.dir().path(), "[1]"));
}

TEST(Local, Create_Isolation_IsNotClaimed) {
  std::mutex mutex;
  std::string said;
  log::replace_sink([&](log::Level, std::string_view, std::string_view text) {
    const std::lock_guard lock(mutex);
    said.append(text).append("\n");
  });
  Box box("local");
  log::replace_sink(nullptr);
  EXPECT_NE(said.find("does not isolate"), std::string::npos) << said;
  EXPECT_EQ(box.capabilities() & SG_CAP_ISOLATES, 0u);
}

TEST(Local, Capabilities_AreThoseItHas) {
  Box box("local");
  EXPECT_EQ(box.capabilities(), SG_CAP_BACKGROUND | SG_CAP_STDIN | SG_CAP_TTY | SG_CAP_KILL |
                                    SG_CAP_DURABLE_DISK | SG_CAP_LOCAL_PATH);
  EXPECT_EQ(box.table().snapshot, nullptr);
  EXPECT_EQ(box.table().fork, nullptr);
}

TEST(Local, Exec_WorkspaceVariable_NamesTheRealDirectory) {
  Box box("local");
  const std::string real = std::filesystem::canonical(box.dir().path());
  box.dir().write("sub/f", "");
  Command command = shell("echo $SANDGLASS_WORKSPACE; env | grep ^PWD=; pwd -P");
  command.cwd = "/workspace/sub";
  EXPECT_EQ(box.exec(command).out, real + "\nPWD=" + real + "/sub\n" + real + "/sub\n");
}

TEST(Local, Exec_RealPathAsCwd_IsAccepted) {
  Box box("local");
  box.dir().write("sub/f", "here");
  Command command = shell("cat f");
  command.cwd = std::filesystem::canonical(box.dir() / "sub");
  EXPECT_EQ(box.exec(command).out, "here");
}

TEST(Local, Exec_LinkInsideTheWorkspaceAsCwd_IsFollowed) {
  Box box("local");
  box.dir().write("sub/f", "here");
  std::filesystem::create_symlink("sub", box.dir() / "l");
  Command command = shell("cat f");
  command.cwd = "/workspace/l";
  EXPECT_EQ(box.exec(command).out, "here");
}

TEST(Local, Destroy_Directory_IsLeftAlone) {
  Box box("local");
  box.dir().write("f", "kept");
  ASSERT_TRUE(box.destroy());
  EXPECT_EQ(box.dir().read("f"), "kept");
}

TEST(Local, DirectoryWithOddName_Works) {
  Box box("local");
  const std::string odd = box.dir() / "a:b%c\n\xff";
  std::filesystem::create_directory(odd);
  auto id = box.create(odd);
  ASSERT_TRUE(id) << id.error().text;
  EXPECT_EQ(*box.local_path(*id), std::filesystem::canonical(odd).string());
}

void expect_gone_by(const std::function<void(const std::string&)>& act) {
  Box box("local");
  plugin::Call call({box.id(), mono_ns() + 20'000'000'000, nullptr});
  Status gone = fail(Fault::failed, "not returned");
  const int64_t start = mono_ns();
  std::thread waiter([&] { gone = box.wait_gone(call); });
  act(box.dir().path());
  waiter.join();
  EXPECT_TRUE(gone) << gone.error().text;
  EXPECT_LT(mono_ns() - start, 4'000'000'000);
  EXPECT_EQ(box.exec(shell("true")).status.error().fault, Fault::lost);
  EXPECT_FALSE(box.resume(box.id()));
  EXPECT_EQ(box.list("the-owner")[0].state, uint32_t{SG_HELD_BROKEN});
}

TEST(Local, WaitGone_DirectoryRemovedOrMoved_Returns) {
  expect_gone_by([](const std::string& path) { std::filesystem::remove_all(path); });
  expect_gone_by([](const std::string& path) {
    std::filesystem::rename(path, path + "-moved");
    std::filesystem::remove_all(path + "-moved");
  });
}

TEST(Local, Resume_SecretsUnknown_WarnsAndRunsWithout) {
  Box box("local", R"({"TOKEN": "x"})");
  std::mutex mutex;
  std::string said;
  Box other("local");
  log::replace_sink([&](log::Level level, std::string_view, std::string_view text) {
    const std::lock_guard lock(mutex);
    if (level == log::Level::warn) said.append(text);
  });
  EXPECT_TRUE(other.resume(box.id()));
  EXPECT_NE(said.find("secrets"), std::string::npos);
  said.clear();
  EXPECT_TRUE(box.resume(box.id()));
  log::replace_sink(nullptr);
  EXPECT_EQ(said, "");
}

}  // namespace
}  // namespace sandglass::contract
