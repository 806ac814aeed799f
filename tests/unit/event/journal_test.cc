#include "event/journal.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "base/log.h"
#include "support/temp_dir.h"

namespace sandglass {
namespace {

using testing::TempDir;

Event file_event(const std::string& path) {
  Event e;
  e.kind = EventKind::file_change;
  e.topic = "sandbox.file";
  e.path = path;
  e.time_ns = 5;
  return e;
}

std::unique_ptr<Journal> open(const TempDir& dir, Journal::Options options = {}) {
  auto journal = Journal::open(dir / "j.db", {"box-1", "/workspace"}, options);
  EXPECT_TRUE(journal) << journal.error().text;
  return std::move(*journal);
}

// All events after `after`, through a cursor.
std::vector<uint64_t> drain(Cursor& cursor, uint64_t until) {
  std::vector<uint64_t> out;
  while (cursor.position() < until)
    for (const EventPtr& event : cursor.next(100, 10'000)) out.push_back(event->seq);
  return out;
}

TEST(Journal, Append_Events_GetSeqOneByOne) {  // E2, E3
  TempDir dir;
  auto journal = open(dir);
  auto cursor = journal->subscribe(0);
  for (int i = 0; i < 5; i++) journal->append(file_event("f" + std::to_string(i)));
  EXPECT_EQ(drain(*cursor, 5), (std::vector<uint64_t>{1, 2, 3, 4, 5}));
}

TEST(Journal, Reopened_SeqGoesOn_AndBytesAreExact) {  // E2, W9
  TempDir dir;
  Event odd = file_event(std::string("a\n\xff\"", 4));
  odd.actor = {ActorKind::run, 42, "sed -i"};
  odd.run_id = "run-1";
  odd.flags = event_symlink;
  open(dir)->append(odd);
  auto journal = open(dir);
  EXPECT_EQ(journal->last_seq(), 1u);
  journal->append(file_event("second"));
  ASSERT_TRUE(journal->sync(10'000));
  auto events = read_journal(dir / "j.db", 0, 10);
  ASSERT_TRUE(events) << events.error().text;
  ASSERT_EQ(events->size(), 2u);
  EXPECT_EQ((*events)[0].path, odd.path);
  EXPECT_EQ((*events)[0].actor.command, "sed -i");
  EXPECT_EQ((*events)[0].actor.pid, 42);
  EXPECT_EQ((*events)[0].run_id, "run-1");
  EXPECT_EQ((*events)[0].flags, static_cast<uint32_t>(event_symlink));
  EXPECT_EQ((*events)[1].seq, 2u);
}

TEST(Journal, CursorBehindTheRing_ReadsRows_InOrderWithoutAGap) {  // S3
  TempDir dir;
  auto journal = open(dir, {16, 1000});
  for (int i = 0; i < 500; i++) journal->append(file_event("f"));
  ASSERT_TRUE(journal->sync(10'000));
  auto cursor = journal->subscribe(0);
  std::vector<uint64_t> expected;
  for (uint64_t i = 1; i <= 500; i++) expected.push_back(i);
  EXPECT_EQ(drain(*cursor, 500), expected);
}

TEST(Journal, ManyWritersAndReaders_EveryoneSeesTheSameOrder) {  // E3
  TempDir dir;
  auto journal = open(dir, {64, 1'000'000});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 500; i++) journal->append(file_event("t" + std::to_string(t)));
    });
  std::vector<std::vector<uint64_t>> seen(3);
  for (auto& mine : seen)
    threads.emplace_back([&] {
      auto cursor = journal->subscribe(0);
      mine = drain(*cursor, 2000);
    });
  for (auto& thread : threads) thread.join();
  for (auto& mine : seen) {
    ASSERT_EQ(mine.size(), 2000u);
    for (size_t i = 0; i < mine.size(); i++) ASSERT_EQ(mine[i], i + 1);
  }
}

TEST(Journal, Next_NothingThere_ReturnsAtTheLimitAndOnWake) {
  TempDir dir;
  auto journal = open(dir);
  auto cursor = journal->subscribe(0);
  EXPECT_TRUE(cursor->next(1, 10).empty());
  std::thread waker([&] { cursor->wake(); });
  EXPECT_TRUE(cursor->next(1, 60'000).empty());
  waker.join();
}

TEST(Journal, File_IsPrivate) {
  TempDir dir;
  auto journal = open(dir);
  struct stat st;
  ASSERT_EQ(::stat((dir / "j.db").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0600u);
}

TEST(Journal, NewerSchema_IsRefusedWithBothNumbers) {  // P2
  TempDir dir;
  open(dir);
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open((dir / "j.db").c_str(), &db), SQLITE_OK);
  sqlite3_exec(db, "PRAGMA user_version = 9", nullptr, nullptr, nullptr);
  sqlite3_close(db);
  auto journal = Journal::open(dir / "j.db", {"box-1", "/workspace"});
  ASSERT_FALSE(journal);
  EXPECT_NE(journal.error().text.find("schema 9"), std::string::npos) << journal.error().text;
  EXPECT_FALSE(read_journal(dir / "j.db", 0, 1));
}

TEST(Journal, LockedFile_EventsAreKept_AndRecoveryIsSaid) {
  TempDir dir;
  std::string said;
  std::mutex mutex;
  log::replace_sink([&](log::Level, std::string_view, std::string_view text) {
    std::lock_guard lock(mutex);
    said.append(text) += '\n';
  });
  {
    auto journal = open(dir);
    // A full disk as SQLite sees one: no page may be added any more.
    journal->append(file_event("first"));
    ASSERT_TRUE(journal->sync(10'000));
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open((dir / "j.db").c_str(), &db), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(db, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);  // past our busy limit
    journal->append(file_event("second"));
    EXPECT_FALSE(journal->sync(6'000));
    sqlite3_exec(db, "COMMIT", nullptr, nullptr, nullptr);
    sqlite3_close(db);
    EXPECT_TRUE(journal->sync(20'000));
    EXPECT_EQ(journal->last_seq(), 2u);
  }
  log::replace_sink(nullptr);
  EXPECT_NE(said.find("cannot be written"), std::string::npos) << said;
  EXPECT_NE(said.find("nothing was lost"), std::string::npos) << said;
}

TEST(Journal, Killed_WhatWasCommittedIsThere_WithoutAGap) {  // L4, A2
  for (int round = 0; round < 20; round++) {
    TempDir dir;
    const pid_t child = ::fork();
    if (child == 0) {
      auto journal = Journal::open(dir / "j.db", {"box-1", "/workspace"});
      for (int i = 0;; i++) {
        (*journal)->append(file_event("f"));
        if (i % 100 == 0) (void)(*journal)->sync(1'000);
        if (i == 300 + round * 37) ::kill(::getpid(), SIGKILL);
      }
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    auto journal = open(dir);
    const uint64_t last = journal->last_seq();
    EXPECT_GE(last, 300u);
    auto events = read_journal(dir / "j.db", 0, 100'000);
    ASSERT_TRUE(events);
    ASSERT_EQ(events->size(), last);
    for (size_t i = 0; i < events->size(); i++) ASSERT_EQ((*events)[i].seq, i + 1);
    journal->append(file_event("next"));
    ASSERT_TRUE(journal->sync(10'000));
    EXPECT_EQ(journal->last_seq(), last + 1);
  }
}

TEST(Journal, Backlogged_BeyondTheBound_IsSaid) {
  TempDir dir;
  auto journal = open(dir, {16, 2});
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open((dir / "j.db").c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  EXPECT_FALSE(journal->backlogged());
  for (int i = 0; i < 5; i++) journal->append(file_event("f"));
  EXPECT_TRUE(journal->backlogged());
  sqlite3_exec(db, "COMMIT", nullptr, nullptr, nullptr);
  sqlite3_close(db);
  ASSERT_TRUE(journal->sync(20'000));
  EXPECT_FALSE(journal->backlogged());
}

TEST(Journal, Summary_CountsAndState) {
  TempDir dir;
  auto journal = open(dir);
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
