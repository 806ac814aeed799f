// What the log writes to stderr: which lines, and in which form.
#include "base/log.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "support/temp_dir.h"

namespace sandglass {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using testing::TempDir;

enum class Journal { none, ours, other };

// What a process of its own writes: the log decides about its form once.
std::string written(const std::function<void()>& logs, Journal journal = Journal::none) {
  const TempDir dir;
  dir.write("err", "");
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(::open((dir / "err").c_str(), O_WRONLY | O_CLOEXEC), STDERR_FILENO);
    struct stat file {};
    ::fstat(STDERR_FILENO, &file);
    const auto inode = file.st_ino + (journal == Journal::other ? 1 : 0);
    const std::string stream = std::to_string(file.st_dev) + ":" + std::to_string(inode);
    ::unsetenv("JOURNAL_STREAM");
    if (journal != Journal::none) ::setenv("JOURNAL_STREAM", stream.c_str(), 1);
    logs();
    ::_exit(0);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  return dir.read("err");
}

TEST(Log, ByDefault_ErrorsAreShown_DebugIsNot) {  // G1
  const std::string text = written([] {
    log::error("broke");
    log::warn("odd");
    log::info("news");
    log::debug("sandbox", "detail");
  });
  EXPECT_THAT(text, MatchesRegex("  [0-9:.]+  error: broke\n"
                                 "  [0-9:.]+  warning: odd\n"
                                 "  [0-9:.]+  news\n"));
}

TEST(Log, Category_SwitchedOn_IsShownAndNamed) {  // G1
  const std::string text = written([] {
    log::show_categories({"sandbox"});
    log::debug("sandbox", "detail");
    log::debug("watch", "hint");
    log::debug("myplugin", "line");
  });
  EXPECT_THAT(text, MatchesRegex("  [0-9:.]+  \\[sandbox\\] detail\n"));
}

TEST(Log, Plugin_ShowsTheCategoriesOfAllPlugins) {  // G1
  log::show_categories({"plugin"});
  EXPECT_TRUE(log::enabled(log::Level::debug, "plugin"));
  EXPECT_TRUE(log::enabled(log::Level::debug, "myplugin"));
  EXPECT_FALSE(log::enabled(log::Level::debug, "sandbox"));
  EXPECT_FALSE(log::enabled(log::Level::debug, "watch"));
  log::show_categories({"myplugin"});
  EXPECT_TRUE(log::enabled(log::Level::debug, "myplugin"));
  EXPECT_FALSE(log::enabled(log::Level::debug, "plugin"));
  log::show_categories({"all"});
  for (const log::Category& one : log::categories())
    EXPECT_TRUE(log::enabled(log::Level::debug, one.name)) << one.name;
  log::show_categories({});
}

TEST(Log, ControlAndBidiCharacters_AreEscaped_LinesAndTabsStay) {  // P3
  const std::string text = written([] { log::info("a\tb\n\x1b]0;title\x07 \xe2\x80\xae\xff\r"); });
  EXPECT_THAT(text, HasSubstr("a\tb\n\\x1b]0;title\\x07 \\u202e\\xff\\r\n"));
}

TEST(Log, Journal_EachLineHasItsPriority_NoTime) {  // G2
  const std::string text = written(
      [] {
        log::show_categories({"all"});
        log::error("broke\nsecond line");
        log::warn("odd");
        log::info("news");
        log::debug("sandbox", "detail");
        log::write(log::Level::trace, "watch", "finer");
      },
      Journal::ours);
  EXPECT_EQ(text,
            "<3>error: broke\n<3>second line\n<4>warning: odd\n<6>news\n<7>[sandbox] detail\n"
            "<7>[watch] finer\n");
}

TEST(Log, Journal_StderrSentElsewhere_LinesAreForPeople) {  // G2
  EXPECT_THAT(written([] { log::error("broke"); }, Journal::other),
              MatchesRegex("  [0-9:.]+  error: broke\n"));
}

TEST(Log, Held_LinesComeOnRelease_TheOldestAreCounted) {
  const std::string text = written([] {
    log::hold();
    for (int i = 0; i < 10'002; i++) log::info("line " + std::to_string(i) + ".");
    log::release();
  });
  EXPECT_THAT(text, HasSubstr("warning: 2 earlier lines are not shown\n"));
  EXPECT_EQ(text.find("line 1."), std::string::npos);
  EXPECT_THAT(text, HasSubstr("line 2."));
  EXPECT_THAT(text, HasSubstr("line 10001."));
}

}  // namespace
}  // namespace sandglass
