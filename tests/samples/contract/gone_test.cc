// How a sandbox of the sample provider goes away, by itself and not.
#include <filesystem>
#include <thread>

#include "contract/providers/provider.h"

namespace sandglass::contract {
namespace {

std::filesystem::path copy_of(Box& box) {
  return *box.local_path(box.id());
}

TEST(Twin, Exec_ChangesTheCopyAlone) {
  Box box("twin");
  const std::string source = box.dir().path();
  ASSERT_TRUE(box.exec(shell("echo x > made")).status);
  EXPECT_TRUE(std::filesystem::exists(copy_of(box) / "made"));
  EXPECT_FALSE(std::filesystem::exists(source + "/made"));
}

TEST(Twin, WaitGone_CopyRemoved_Returns) {
  Box box("twin");
  plugin::Call call({box.id(), mono_ns() + 20'000'000'000, nullptr});
  Status gone;
  std::thread waiting([&] { gone = box.wait_gone(call); });
  std::filesystem::remove_all(copy_of(box));
  waiting.join();
  EXPECT_TRUE(gone) << gone.error().text;
  EXPECT_EQ(box.exec(shell("true")).status.error().fault, Fault::lost);
  EXPECT_EQ(box.resume(box.id()).error().fault, Fault::not_found);
  ASSERT_EQ(box.list("the-owner").size(), 1u);
  EXPECT_EQ(box.list("the-owner")[0].state, uint32_t{SG_HELD_BROKEN});
  EXPECT_TRUE(box.destroy());
  EXPECT_TRUE(box.list("the-owner").empty());
}

TEST(Twin, Create_HalfDone_CanBeDestroyedAndMadeAgain) {
  Box box("twin");
  const std::filesystem::path copy = copy_of(box);
  std::filesystem::rename(copy, copy.string() + ".new");
  EXPECT_EQ(*box.create(box.dir().path()), box.id());
  EXPECT_TRUE(std::filesystem::exists(copy));
  EXPECT_FALSE(std::filesystem::exists(copy.string() + ".new"));
  std::filesystem::remove(copy.parent_path() / "about");
  EXPECT_TRUE(box.destroy());
  EXPECT_FALSE(std::filesystem::exists(copy.parent_path()));
}

TEST(Twin, Create_WhatItCannotDo_IsRefusedWithWords) {
  Box box("twin");
  EXPECT_EQ(box.create("/no/such/dir").error().fault, Fault::not_found);
  EXPECT_EQ(box.create(box.dir().path(), R"({"A": "b"})").error().fault, Fault::unsupported);
  EXPECT_EQ(box.create(box.dir().path(), "{}", "snap").error().fault, Fault::unsupported);
}

TEST(Twin, Exec_Cancelled_EndsTheTree) {  // X4
  Box box("twin");
  Command command = shell(
      "(setsid sh -c 'trap \"\" TERM; while :; do sleep .1; date > beat; done' &); "
      "echo up; while :; do sleep 1; done");
  command.tag = "samples-cancel";
  plugin::Call call({box.id(), mono_ns() + 20'000'000'000, nullptr});
  command.on_output = [&](std::string_view) { call.cancel(); };
  const Ran ran = box.exec(command, call);
  ASSERT_FALSE(ran.status);
  EXPECT_EQ(ran.status.error().fault, Fault::cancelled) << ran.status.error().text;
  const std::filesystem::path beat = copy_of(box) / "beat";
  std::error_code none;
  std::filesystem::remove(beat, none);
  EXPECT_FALSE(eventually([&] { return std::filesystem::exists(beat); }, 500));
}

}  // namespace
}  // namespace sandglass::contract
