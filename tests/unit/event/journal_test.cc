#include "event/journal.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "unit/event/support.h"

namespace sandglass {
namespace {

using testing::append_many;
using testing::file_event;
using testing::open_journal;
using testing::read_until;
using testing::TempDir;

void run_sql(const std::string& file, const char* sql) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &db), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(db, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
  sqlite3_close(db);
}

uint32_t mode_of(const std::string& file) {
  struct stat st {};
  return ::lstat(file.c_str(), &st) == 0 ? st.st_mode & 07777 : 0;
}

TEST(Journal, Append_Events_GetSeqOneByOne) {  // E2, E3
  TempDir dir;
  auto journal = open_journal(dir / "j.db");
  auto cursor = journal->subscribe(0);
  append_many(*journal, 3);
  journal->append(std::vector<Event>{file_event("a"), file_event("b")});
  const auto events = read_until(*cursor, 5);
  testing::expect_gapless(events, 1, 5);
  EXPECT_EQ(events[0]->path, "f0");
  EXPECT_EQ(events[4]->path, "b");
}

TEST(Journal, Reopened_SeqGoesOn_AndEveryFieldIsExact) {  // E2, W9
  TempDir dir;
  Event odd = file_event(std::string("a\n\0\xff\"", 5), EventKind::file_delete);
  odd.actor = {ActorKind::run, 42, "sed -i \xff"};
  odd.run_id = "run-1";
  odd.flags = event_symlink | event_meta_only;
  odd.json = R"(["run-1"])";
  odd.time_ns = 1'700'000'000'123'456'789;
  open_journal(dir / "j.db")->append(odd);
  auto journal = open_journal(dir / "j.db");
  EXPECT_EQ(journal->last_seq(), 1u);
  journal->append(file_event("second"));
  ASSERT_TRUE(journal->sync(10'000));
  auto events = read_journal(dir / "j.db", 0, 10);
  ASSERT_TRUE(events) << events.error().text;
  ASSERT_EQ(events->size(), 2u);
  const Event& read = (*events)[0];
  EXPECT_EQ(read.kind, odd.kind);
  EXPECT_EQ(read.flags, odd.flags);
  EXPECT_EQ(read.time_ns, odd.time_ns);
  EXPECT_EQ(read.path, odd.path);
  EXPECT_EQ(read.run_id, odd.run_id);
  EXPECT_EQ(read.topic, odd.topic);
  EXPECT_EQ(read.json, odd.json);
  EXPECT_EQ(read.actor.kind, odd.actor.kind);
  EXPECT_EQ(read.actor.pid, 42);
  EXPECT_EQ(read.actor.command, odd.actor.command);
  EXPECT_EQ((*events)[1].seq, 2u);
}

TEST(Journal, ManyWriters_EveryReaderSeesTheSameOrder) {  // E3
  TempDir dir;
  auto journal = open_journal(dir / "j.db", {64, 1'000'000});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++) threads.emplace_back([&] { append_many(*journal, 500); });
  std::vector<std::vector<EventPtr>> seen(3);
  for (auto& mine : seen)
    threads.emplace_back([&] { mine = read_until(*journal->subscribe(0), 2000); });
  for (auto& thread : threads) thread.join();
  for (auto& mine : seen) {
    testing::expect_gapless(mine, 1, 2000);
    for (size_t i = 0; i < mine.size(); i++) ASSERT_EQ(mine[i]->path, seen[0][i]->path);
  }
}

TEST(Journal, Files_ArePrivate_AlsoOnesThatWereNot) {
  TempDir dir;
  const mode_t before = ::umask(0);
  dir.write("j.db", "");
  auto journal = open_journal(dir / "j.db");
  journal->append(file_event("a"));
  ASSERT_TRUE(journal->sync(10'000));
  ::umask(before);
  for (const char* name : {"j.db", "j.db-wal", "j.db-shm"})
    EXPECT_EQ(mode_of(dir / name), 0600u) << name;
}

TEST(Journal, SymbolicLink_AsTheFile_IsRefused) {
  TempDir dir;
  dir.write("target", "");
  std::filesystem::create_symlink(dir / "target", dir / "j.db");
  auto journal = Journal::open(dir / "j.db", {"box-1", "/workspace"});
  ASSERT_FALSE(journal);
  EXPECT_EQ(journal.error().fault, Fault::denied);
  EXPECT_EQ(dir.read("target"), "");
}

TEST(Journal, FolderBehindASymbolicLink_Works) {
  TempDir dir;
  std::filesystem::create_directory(dir / "real");
  std::filesystem::create_directory_symlink(dir / "real", dir / "link");
  open_journal(dir / "link/j.db")->append(file_event("a"));
  auto events = read_journal(dir / "link/j.db", 0, 10);
  ASSERT_TRUE(events) << events.error().text;
  EXPECT_EQ(events->size(), 1u);
}

TEST(Journal, NewerSchema_IsRefusedWithBothNumbers) {  // P2
  TempDir dir;
  open_journal(dir / "j.db");
  run_sql(dir / "j.db", "PRAGMA user_version = 9");
  auto journal = Journal::open(dir / "j.db", {"box-1", "/workspace"});
  ASSERT_FALSE(journal);
  EXPECT_NE(journal.error().text.find("schema 9"), std::string::npos) << journal.error().text;
  EXPECT_NE(journal.error().text.find("knows 2"), std::string::npos);
  EXPECT_FALSE(read_journal(dir / "j.db", 0, 1));
}

TEST(Journal, OlderSchema_IsBroughtForward) {  // P2
  TempDir dir;
  run_sql(dir / "j.db", "PRAGMA user_version = 0; CREATE TABLE other(a); DROP TABLE other");
  auto early = read_journal(dir / "j.db", 0, 1);
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().fault, Fault::busy) << early.error().text;
  open_journal(dir / "j.db")->append(file_event("a"));
  auto events = read_journal(dir / "j.db", 0, 10);
  ASSERT_TRUE(events) << events.error().text;
  EXPECT_EQ(events->size(), 1u);
}

TEST(Journal, FileThatIsNoJournal_IsNamedAndLeftAlone) {
  TempDir dir;
  const std::string text(8192, 'x');
  dir.write("j.db", text);
  auto journal = Journal::open(dir / "j.db", {"box-1", "/workspace"});
  ASSERT_FALSE(journal);
  EXPECT_EQ(journal.error().fault, Fault::corrupt);
  EXPECT_NE(journal.error().text.find("j.db"), std::string::npos);
  EXPECT_EQ(dir.read("j.db"), text);
}

TEST(Journal, Read_AfterAndLimit_AreObeyed) {
  TempDir dir;
  auto journal = open_journal(dir / "j.db");
  append_many(*journal, 10);
  ASSERT_TRUE(journal->sync(10'000));
  auto events = read_journal(dir / "j.db", 4, 3);
  ASSERT_TRUE(events);
  ASSERT_EQ(events->size(), 3u);
  EXPECT_EQ(events->front().seq, 5u);
  EXPECT_TRUE(read_journal(dir / "j.db", 10, 3)->empty());
}

TEST(Journal, Read_HugeTexts_ComeInPages) {
  TempDir dir;
  auto journal = open_journal(dir / "j.db");
  Event big = file_event("a");
  big.json = std::string(30 << 20, 'x');
  for (int i = 0; i < 4; i++) journal->append(big);
  ASSERT_TRUE(journal->sync(60'000));
  auto events = read_journal(dir / "j.db", 0, 100);
  ASSERT_TRUE(events);
  EXPECT_EQ(events->size(), 3u);  // the third one reaches the 64 MiB
}

TEST(Journal, Read_MissingFile_IsNotFound_AndNotMade) {
  TempDir dir;
  auto events = read_journal(dir / "none.db", 0, 1);
  ASSERT_FALSE(events);
  EXPECT_EQ(events.error().fault, Fault::not_found);
  EXPECT_FALSE(std::filesystem::exists(dir / "none.db"));
}

TEST(Journal, Backlogged_BeyondTheBound_IsSaid_AndNothingIsDropped) {
  TempDir dir;
  auto journal = open_journal(dir / "j.db", {16, 2});
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open((dir / "j.db").c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  EXPECT_FALSE(journal->backlogged());
  append_many(*journal, 5);
  EXPECT_TRUE(journal->backlogged());
  EXPECT_FALSE(journal->outlet()(file_event("refused")));
  EXPECT_EQ(journal->sync(0).error().fault, Fault::timeout);
  sqlite3_exec(db, "COMMIT", nullptr, nullptr, nullptr);
  sqlite3_close(db);
  ASSERT_TRUE(journal->sync(20'000));
  EXPECT_FALSE(journal->backlogged());
  EXPECT_EQ(journal->last_seq(), 5u);
}

TEST(Journal, Outlet_OutlivesTheJournal_AndThenTakesNothing) {
  TempDir dir;
  auto journal = open_journal(dir / "j.db");
  auto append = journal->outlet();
  EXPECT_TRUE(append(file_event("a")));
  journal.reset();
  EXPECT_FALSE(append(file_event("b")));
  EXPECT_EQ(read_journal(dir / "j.db", 0, 10)->size(), 1u);
}

TEST(Journal, Summary_CountsAndState) {
  TempDir dir;
  auto journal = open_journal(dir / "j.db");
  Event state;
  state.kind = EventKind::state;
  state.topic = "sandbox.state";
  state.json = R"({"from":"arming","event":"ok","to":"ready"})";
  journal->append(state);
  journal->append(file_event("f"));
  ASSERT_TRUE(journal->sync(10'000));
  auto summary = summarize_journal(dir / "j.db");
  ASSERT_TRUE(summary) << summary.error().text;
  EXPECT_EQ(summary->events, 2u);
  EXPECT_EQ(summary->file_events, 1u);
  EXPECT_EQ(summary->state, "ready");
}

}  // namespace
}  // namespace sandglass
