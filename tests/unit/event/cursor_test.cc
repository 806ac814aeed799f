#include <filesystem>
#include <thread>

#include "base/clock.h"
#include "unit/event/support.h"

namespace sandglass {
namespace {

using testing::append_many;
using testing::expect_gapless;
using testing::open_journal;
using testing::read_until;
using testing::TempDir;

TEST(Cursor, BehindTheRing_ReadsRows_InOrderWithoutAGap) {  // S3
  TempDir dir;
  auto journal = open_journal(dir / "j.db", {16, 1000});
  append_many(*journal, 500);
  ASSERT_TRUE(journal->sync(10'000));
  expect_gapless(read_until(*journal->subscribe(0), 500, 7), 1, 500);
  expect_gapless(read_until(*journal->subscribe(495), 500), 496, 5);
}

TEST(Cursor, WithinTheRing_NeverTouchesTheFile) {
  TempDir dir;
  auto journal = open_journal(dir / "j.db");
  auto cursor = journal->subscribe(0);
  append_many(*journal, 100);
  ASSERT_TRUE(journal->sync(10'000));
  std::filesystem::rename(dir / "j.db", dir / "moved.db");
  expect_gapless(read_until(*cursor, 100), 1, 100);
}

TEST(Cursor, BehindTheRing_RowsCannotBeRead_IsSaidOnce_AndWaits) {
  TempDir dir;
  testing::Logged logged;
  auto journal = open_journal(dir / "j.db", {16, 1000});
  auto cursor = journal->subscribe(0);
  append_many(*journal, 100);
  ASSERT_TRUE(journal->sync(10'000));
  std::filesystem::rename(dir / "j.db", dir / "moved.db");
  const int64_t before = mono_ns();
  EXPECT_TRUE(cursor->next(10, 20).empty());
  EXPECT_TRUE(cursor->next(10, 20).empty());
  EXPECT_GE(mono_ns() - before, 40'000'000);
  EXPECT_EQ(logged.count("cannot be read"), 1u) << logged.text();
  std::filesystem::rename(dir / "moved.db", dir / "j.db");
  expect_gapless(read_until(*cursor, 100), 1, 100);
}

TEST(Cursor, NothingThere_ReturnsAtTheLimit) {
  TempDir dir;
  auto journal = open_journal(dir / "j.db");
  auto cursor = journal->subscribe(0);
  const int64_t before = mono_ns();
  EXPECT_TRUE(cursor->next(1, 30).empty());
  EXPECT_GE(mono_ns() - before, 30'000'000);
  EXPECT_TRUE(cursor->next(1, 0).empty());
}

TEST(Cursor, Wake_LetsTheOneReturn_AndNoOther) {
  TempDir dir;
  auto journal = open_journal(dir / "j.db");
  auto woken = journal->subscribe(0), other = journal->subscribe(0);
  std::vector<EventPtr> got;
  std::thread waits([&] { got = other->next(1, -1); });
  std::thread waker([&] { woken->wake(); });
  EXPECT_TRUE(woken->next(1, 60'000).empty());
  waker.join();
  journal->append(testing::file_event("a"));
  waits.join();
  EXPECT_EQ(got.size(), 1u);
}

TEST(Cursor, JournalCloses_WaitingReaderReturns_AndReadsTheRest) {
  TempDir dir;
  auto journal = open_journal(dir / "j.db");
  auto waiting = journal->subscribe(0), late = journal->subscribe(0);
  append_many(*journal, 3);
  read_until(*waiting, 3);
  std::vector<EventPtr> got(1);
  std::thread waits([&] { got = waiting->next(1, -1); });
  journal.reset();
  waits.join();
  EXPECT_TRUE(got.empty());
  expect_gapless(read_until(*late, 3), 1, 3);
  EXPECT_TRUE(late->next(1, -1).empty());
}

TEST(Cursor, EventsThatWereThereBefore_AreMarkedAsReplay) {
  TempDir dir;
  auto journal = open_journal(dir / "j.db", {4, 1000});
  auto live = journal->subscribe(0);
  append_many(*journal, 10);
  ASSERT_TRUE(journal->sync(10'000));
  auto late = journal->subscribe(0);
  append_many(*journal, 2);
  for (const EventPtr& event : read_until(*late, 12))  // out of rows, then out of the ring
    EXPECT_EQ(event->flags, event->seq <= 10 ? event_replay : 0u) << event->seq;
  for (const EventPtr& event : read_until(*live, 12)) EXPECT_EQ(event->flags, 0u) << event->seq;
}

}  // namespace
}  // namespace sandglass
