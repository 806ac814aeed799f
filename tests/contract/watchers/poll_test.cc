// What a watcher that looks by commands can get wrong: names, stamps, parts of looks.
#include <sys/mount.h>

#include <thread>

#include "contract/watchers/poll_fixture.h"
#include "support/logged.h"

namespace sandglass::watch::testing {

TEST_F(PollTest, Names_ArriveExactly_AndRunNothing) {  // W9, J25, J26
  const std::vector<std::string> names = {
      "$(touch pwned)",
      "`touch pwned`",
      ";touch pwned",
      "|touch pwned",
      "&touch pwned",
      "'",
      "\"",
      "it's \"so\"",
      "-exec",
      "-delete",
      "--help",
      "-",
      "a\nb",
      "\n",
      "\n\n",
      "x\n//81a4 1 1 1 1 2026-01-01 00:00:00.0 2026-01-01 00:00:00.0 .",
      "f 644 1 1 1.0 1.0 .",
      "a\\nb",
      "\\",
      "tab\there",
      "bad\xff\xfe",
      "*",
      "?",
      "[a]",
      "{}",
      "+",
      "{} +",
      " ",
      "  a ",
      "\x01\x1b[31m",
      "z,7",
      "Untitled Folder",
      "~",
      "!",
      "(",
      "%s%n",
      "./a"};
  start();
  for (const std::string& name : names) {
    const bool nested = name.find('/') != std::string::npos;
    if (!nested) write(name, "aaaa");
    std::string dir = name;
    std::replace(dir.begin(), dir.end(), '/', '_');
    write("d/" + dir + "/" + dir, "1");
  }
  EXPECT_TRUE(session_->flush(kLongMs));
  EXPECT_EQ(replica_->difference(), "");
  for (const std::string& name : names)  // the same size, at once: only the hash shows it
    if (name.find('/') == std::string::npos) write(name, "bbbb");
  EXPECT_TRUE(session_->flush(kLongMs));
  EXPECT_EQ(replica_->difference(), "");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(dir_.path()))
    EXPECT_NE(entry.path().filename(), "pwned");
}

TEST_F(PollTest, IgnoredNames_AreNoPatterns_AndNoCommands) {  // D4
  ignore_ = {"a*b", "it's",           "[x]", "back\\slash", "sp ace",      "-delete",
             ")",   "$(touch pwned)", "q?",  "\xff",        "node_modules"};
  for (const std::string& name : ignore_) {
    write(name + "/hidden", "1");
    write("sub/" + name + "/hidden", "1");
  }
  start();
  for (const std::string& name : ignore_) write("sub/" + name + "/more", "1");
  for (const char* name : {"aXb", "x", "qq", "node_modules.txt", "my_node_modules"})
    write(std::string(name) + "/seen", "1");
  write("file/node_modules", "a file of that name is told");
  EXPECT_EQ(sorted(),
            (Lines{"create aXb/seen", "create file/node_modules", "create my_node_modules/seen",
                   "create node_modules.txt/seen", "create qq/seen", "create x/seen"}));
}

TEST_F(PollTest, BornAndGoneBetweenTwoLooks_MakesNothing) {  // A7
  const sandglass::testing::Logged logged;
  start();
  write("x", "1");
  std::filesystem::remove(at("x"));
  EXPECT_EQ(flushed(), Lines{});
  EXPECT_EQ(logged.count("errors: "), 0u) << logged.text();
}

TEST_F(PollTest, Looks_ComeByThemselves) {  // D3
  interval_ms_ = 20;
  start();
  write("d/f", "1");
  EXPECT_TRUE(eventually([&] { return replica_->difference().empty(); }));
  std::filesystem::remove_all(at("d"));
  EXPECT_TRUE(eventually([&] { return replica_->difference().empty(); }));
}

TEST_F(PollTest, MoveBetweenDirectories_DeletesFirst) {  // W4
  write("a/x", "1");
  write("b/y", "2");
  start();
  rename("a/x", "b/x");
  rename("b/y", "a/y");
  const Lines lines = flushed();
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_TRUE(lines[0].starts_with("delete ") && lines[1].starts_with("delete ")) << lines[0];
}

TEST_F(PollTest, DirectoryAndLinkSwap) {
  write("d/f", "1");
  start();
  std::filesystem::remove_all(at("d"));
  ASSERT_EQ(::symlink("/etc", at("d").c_str()), 0);
  EXPECT_EQ(flushed(), (Lines{"delete d/f", "create d"}));
  ASSERT_EQ(::unlink(at("d").c_str()), 0);
  write("d/g", "2");
  EXPECT_EQ(flushed(), (Lines{"delete d", "create d/g"}));
}

TEST_F(PollTest, SameSizeRewriteRightAfterALook_IsSeen) {  // J23, W6a, W7
  start();
  for (int i = 0; i < 50; ++i) {
    write("f", i % 2 ? "aaaa" : "bbbb");
    EXPECT_TRUE(session_->flush(kLongMs));
    EXPECT_EQ(replica_->difference(), "");
  }
}

TEST_F(PollTest, CoarseFileSystem_SameSizeRewrites_AreSeen) {  // W6a
  if (::mount("none", root_.c_str(), "ramfs", 0, nullptr) < 0)
    GTEST_SKIP() << "no file system can be mounted here";
  start();
  for (int i = 0; i < 50; ++i) {
    write("f", i % 2 ? "aaaa" : "bbbb");
    EXPECT_TRUE(session_->flush(kLongMs));
    EXPECT_EQ(replica_->difference(), "");
  }
  EXPECT_TRUE(session_->stop(kLongMs));
  session_.reset();
  ::umount2(root_.c_str(), MNT_DETACH);
}

TEST_F(PollTest, Fifo_IsNotOpened) {  // rule 15
  write("f", "1");
  start();
  std::filesystem::remove(at("f"));
  ASSERT_EQ(::mkfifo(at("f").c_str(), 0644), 0);
  EXPECT_TRUE(session_->flush(kLongMs));
  EXPECT_EQ(replica_->difference(), "");
}

TEST_F(PollTest, ManyFlushesAtOnce_AllSeeTheirChange) {  // W7, W8
  interval_ms_ = 1;
  start();
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([this, t] {
      for (int i = 0; i < 5; ++i) {
        const std::string name = std::to_string(t) + "-" + std::to_string(i);
        write(name, "x");
        EXPECT_TRUE(session_->flush(kLongMs));
        std::lock_guard lock(mutex_);
        EXPECT_TRUE(told_.count(name)) << name;
      }
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace sandglass::watch::testing
