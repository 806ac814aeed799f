// What a journal survives: kill -9, a full disk, another process that reads.
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <functional>

#include "base/fd.h"
#include "unit/event/support.h"

namespace sandglass {
namespace {

using testing::append_many;
using testing::open_journal;
using testing::TempDir;

// Runs fn in a child. Journals are opened after the fork only: SQLite does not survive one.
pid_t in_child(const std::function<int()>& fn) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(fn());
  return child;
}

int exit_code(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

uint64_t read_number(int fd) {
  uint64_t number = 0;
  EXPECT_TRUE(wait_fd(fd, POLLIN, 20'000));
  EXPECT_EQ(::read(fd, &number, sizeof number), static_cast<ssize_t>(sizeof number));
  return number;
}

void write_number(int fd, uint64_t number) {
  if (!write_all(fd, {reinterpret_cast<const char*>(&number), sizeof number})) ::_exit(9);
}

// Appends for ever; tells what it knows to be committed.
int write_without_end(const std::string& file, int acknowledged) {
  auto journal = open_journal(file);
  for (;;) {
    append_many(*journal, 50);
    if (!journal->sync(10'000)) return 1;
    write_number(acknowledged, journal->last_seq());
    append_many(*journal, 50);  // in flight when the end comes
  }
}

TEST(Crash, KilledWriter_LosesNothingCommitted_AndSeqGoesOnWithoutAGap) {  // L4, A2
  TempDir dir;
  for (int round = 0; round < 20; round++) {
    auto pipe = make_pipe();
    ASSERT_TRUE(pipe);
    const pid_t child =
        in_child([&] { return write_without_end(dir / "j.db", pipe->write.get()); });
    pipe->write.reset();
    uint64_t acknowledged = 0;
    for (int i = 0; i <= round % 5; i++) acknowledged = read_number(pipe->read.get());
    ::kill(child, SIGKILL);
    EXPECT_EQ(exit_code(child), -SIGKILL);
    auto journal = open_journal(dir / "j.db");
    const uint64_t last = journal->last_seq();
    EXPECT_GE(last, acknowledged);
    journal->append(testing::file_event("after"));
    ASSERT_TRUE(journal->sync(10'000));
    testing::expect_gapless(testing::read_until(*journal->subscribe(0), last + 1), 1, last + 1);
    EXPECT_EQ(read_journal(dir / "j.db", last, 10)->front().path, "after");
  }
}

TEST(Crash, ReaderOfALiveJournal_SeesWhatIsCommitted_AndChangesNothing) {  // P1
  TempDir dir;
  auto pipe = make_pipe();
  ASSERT_TRUE(pipe);
  const pid_t child = in_child([&] { return write_without_end(dir / "j.db", pipe->write.get()); });
  pipe->write.reset();
  uint64_t acknowledged = 0;
  for (int i = 0; i < 5; i++) {
    acknowledged = read_number(pipe->read.get());
    auto events = read_journal(dir / "j.db", 0, 1'000'000);
    ASSERT_TRUE(events) << events.error().text;
    ASSERT_GE(events->size(), acknowledged);
    for (size_t at = 0; at < events->size(); at++) ASSERT_EQ((*events)[at].seq, at + 1);
  }
  ::kill(child, SIGKILL);
  exit_code(child);
  const auto size = std::filesystem::file_size(dir / "j.db");
  const auto log_size = std::filesystem::file_size(dir / "j.db-wal");
  auto events = read_journal(dir / "j.db", 0, 1'000'000);
  ASSERT_TRUE(events) << events.error().text;
  EXPECT_GE(events->size(), acknowledged);
  EXPECT_EQ(std::filesystem::file_size(dir / "j.db"), size);
  EXPECT_EQ(std::filesystem::file_size(dir / "j.db-wal"), log_size);
}

// A disk that is full from here on: no file of this process may grow past `bytes`.
void limit_files(rlim_t bytes) {
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = bytes == RLIM_INFINITY ? limit.rlim_max : bytes;
  ::setrlimit(RLIMIT_FSIZE, &limit);
}

// Appends until the disk refuses. What is appended behind it waits.
void fill(Journal& journal) {
  limit_files(256 << 10);
  while (journal.sync(50)) append_many(journal, 500);
  append_many(journal, 10);
}

int fill_then_make_room(const std::string& file) {
  testing::Logged logged;
  auto journal = open_journal(file);
  fill(*journal);
  if (journal->write_error().empty()) return 1;
  const Status late = journal->sync(500);  // two more attempts
  if (late || late.error().text.find(journal->write_error()) == std::string::npos) return 2;
  const uint64_t refused_after = journal->last_seq();
  limit_files(RLIM_INFINITY);
  if (!journal->sync(20'000)) return 3;
  if (!journal->write_error().empty() || journal->last_seq() <= refused_after) return 4;
  if (logged.count("errors: the journal") != 1) return 5;
  if (logged.count("nothing was lost") != 1) return 6;
  const uint64_t last = journal->last_seq();
  auto events = read_journal(file, 0, 1'000'000);
  if (!events || events->size() != last) return 7;
  for (size_t i = 0; i < last; i++)
    if ((*events)[i].seq != i + 1) return 8;
  return 0;
}

TEST(Crash, DiskFull_IsSaidOnce_EventsAreKept_AndRecoveryIsSaidOnce) {  // A2
  TempDir dir;
  EXPECT_EQ(exit_code(in_child([&] { return fill_then_make_room(dir / "j.db"); })), 0);
}

int fill_then_close(const std::string& file) {
  testing::Logged logged;
  auto journal = open_journal(file);
  fill(*journal);
  const uint64_t last = journal->last_seq();
  journal.reset();
  if (logged.count("events were lost") != 1) return 1;
  limit_files(RLIM_INFINITY);
  journal = open_journal(file);
  return journal && journal->last_seq() == last ? 0 : 2;
}

TEST(Crash, DiskFullToTheEnd_LossIsSaidWithItsCount_AndTheRestIsWhole) {
  TempDir dir;
  EXPECT_EQ(exit_code(in_child([&] { return fill_then_close(dir / "j.db"); })), 0);
}

}  // namespace
}  // namespace sandglass
