// Durable handlers: what they refuse comes again, and their place outlives the process (rule H7).
#include <filesystem>
#include <stdexcept>

#include "base/clock.h"
#include "event/patience.h"
#include "unit/event/fake_hook.h"

namespace sandglass {
namespace {

using testing::FakeHook;
using testing::text_of;
using Strings = std::vector<std::string>;

class Durable : public testing::DispatchTest {
 protected:
  void add_durable(FakeHook& fake, const std::string& name) {
    add(fake, name);
    handlers_.back().durable = true;
  }
  // The process ends and another one opens the same journal.
  void restart() {
    dispatcher_->stop(10'000);
    dispatcher_.reset();
    journal_.reset();
    journal_ = testing::open_journal(dir_ / "j.db");
  }
  Place place(const std::string& name) const {
    const Places places = journal_->places();
    const auto found = places.find(name);
    return found == places.end() ? Place{} : found->second;
  }
};

sg_status say(const sg_host* host, sg_call* call, uint32_t flags) {
  return host->fail(host, call, SG_E_BUSY, flags, {"", 0}, testing::str("no"));
}

TEST_F(Durable, Refused_ComesAgainAsReplay_AndNothingOvertakes) {
  FakeHook& fake = hook();
  int refusals = 2;
  std::vector<uint32_t> flags;
  fake.on_event = [&](const sg_host* host, sg_call* call, const sg_event* event) {
    flags.push_back(event->flags);
    if (text_of(event->relative) == "b" && refusals-- > 0) return say(host, call, 0);
    return sg_status{SG_OK};
  };
  add_durable(fake, "h");
  start();
  for (const char* path : {"a", "b", "c"}) append(path);
  EXPECT_EQ(drain().kept.events, 0u);
  EXPECT_EQ(fake.seen(), (Strings{"change a", "change b", "change b", "change b", "change c"}));
  EXPECT_EQ(flags, (std::vector<uint32_t>{0, 0, SG_EVF_REPLAY, SG_EVF_REPLAY, 0}));
  EXPECT_EQ(logged_.count("errors: "), 1u) << logged_.text();
  EXPECT_EQ(logged_.count("has taken event box-1/2 (change b) after 2 refusals"), 1u);
}

TEST_F(Durable, Place_OutlivesTheProcess) {
  FakeHook& first = hook();
  add_durable(first, "h");
  start();
  append("a");
  drain();
  append("b");
  ASSERT_TRUE(journal_->sync(10'000));
  drain();
  restart();
  EXPECT_EQ(place("h").seq, 2u);
  append("c");  // nobody is there to take it
  ASSERT_TRUE(journal_->sync(10'000));
  FakeHook& second = hook();
  uint32_t flags = 0;
  second.on_event = [&](const sg_host*, sg_call*, const sg_event* event) {
    flags = event->flags;
    return SG_OK;
  };
  add_durable(second, "h");
  start();
  drain();
  EXPECT_EQ(second.seen(), (Strings{"change c"}));
  EXPECT_EQ(flags, static_cast<uint32_t>(SG_EVF_REPLAY));
}

TEST_F(Durable, NewName_BeginsAtTheEnd) {
  append("old");
  ASSERT_TRUE(journal_->sync(10'000));
  FakeHook& fake = hook();
  add_durable(fake, "h");
  start();
  append("new");
  drain();
  EXPECT_EQ(fake.seen(), (Strings{"change new"}));
}

TEST_F(Durable, RefusedForGood_IsSetAsideWithARecord) {
  FakeHook& fake = hook();
  fake.interests = SG_EV_ALL;
  fake.on_event = [&](const sg_host* host, sg_call* call, const sg_event* event) {
    return text_of(event->relative) == "b" || text_of(event->topic) == "sandbox.hook.aside"
               ? say(host, call, SG_FAIL_FINAL)
               : sg_status{SG_OK};
  };
  add(fake, "h", {SG_EV_ALL});
  handlers_.back().durable = true;
  start();
  for (const char* path : {"a", "b", "c"}) append(path);
  drain();
  EXPECT_EQ(drain().kept.events, 0u);  // the record too
  const auto events = read_journal(dir_ / "j.db", 0, 100);
  ASSERT_TRUE(events);
  ASSERT_EQ(events->size(), 4u);  // never a record about a record
  EXPECT_EQ(events->back().topic, "sandbox.hook.aside");
  EXPECT_EQ(events->back().json, R"({"hook":"h","event":2,"reason":"no"})");
}

TEST_F(Durable, RefusedForADay_AlsoOverRestarts_IsSetAside) {
  append("a");
  ASSERT_TRUE(journal_->sync(10'000));
  journal_->keep_place("h", {0, SG_EV_ALL, 1, wall_ns() - Patience::kLimitNs - 1});
  FakeHook& fake = hook();
  fake.on_event = [](const sg_host* host, sg_call* call, const sg_event*) {
    return say(host, call, 0);
  };
  add_durable(fake, "h");
  start();
  EXPECT_EQ(drain().kept.events, 0u);
  EXPECT_EQ(fake.seen().size(), 1u);
  EXPECT_EQ(logged_.count("refused for a day, at last: no"), 1u) << logged_.text();
}

TEST_F(Durable, StuckHook_DoesNotHoldUpADrain_AndItsPlaceSaysSinceWhen) {
  FakeHook& fake = hook();
  fake.on_event = [](const sg_host* host, sg_call* call, const sg_event* event) {
    return event->seq == 2 ? say(host, call, 0) : sg_status{SG_OK};
  };
  add_durable(fake, "h");
  start();
  for (const char* path : {"a", "b", "c"}) append(path);
  const int64_t before = mono_ns();
  const DrainReport report = drain(60'000);
  EXPECT_LT(mono_ns() - before, 30'000 * testing::kMs);
  EXPECT_EQ(report.late.events, 0u);
  EXPECT_EQ(report.kept.events, 2u);
  EXPECT_EQ(report.kept.hooks, Strings{"h"});
  EXPECT_TRUE(dispatcher_->owes());
  restart();
  EXPECT_EQ(place("h").seq, 1u);
  EXPECT_EQ(place("h").stuck_seq, 2u);
  EXPECT_EQ(place("h").kinds, SG_EV_FILES);
  EXPECT_EQ(summarize_journal(dir_ / "j.db")->owed, (std::map<std::string, uint64_t>{{"h", 2}}));
  EXPECT_NE(place("h").since_ns, 0);
}

TEST_F(Durable, Batch_GoesOnAtTheEventThatWasRefused) {
  FakeHook& fake = hook();
  std::vector<uint64_t> taken;
  bool refuse = true;
  fake.on_batch = [&](const sg_host* host, sg_call* call, const sg_event* const* events,
                      size_t count, size_t* accepted) {
    for (size_t i = 0; i < count; i++) {
      *accepted = i;
      if (events[i]->seq == 3 && std::exchange(refuse, false)) return say(host, call, 0);
      taken.push_back(events[i]->seq);
    }
    *accepted = count;
    return sg_status{SG_OK};
  };
  add_durable(fake, "h");
  testing::append_many(*journal_, 5);
  journal_->keep_place("h", {0, SG_EV_ALL, 0, 0});
  ASSERT_TRUE(journal_->sync(10'000));
  start();
  drain();
  EXPECT_EQ(taken, (std::vector<uint64_t>{1, 2, 3, 4, 5}));
}

TEST_F(Durable, ThrowingHook_IsAskedAgain) {  // P7
  FakeHook& fake = hook();
  int left = 1;
  fake.on_event = [&](const sg_host*, sg_call*, const sg_event*) -> sg_status {
    if (left-- > 0) throw std::runtime_error("boom");
    return SG_OK;
  };
  add_durable(fake, "h");
  start();
  append("a");
  EXPECT_EQ(drain().kept.events, 0u);
  EXPECT_EQ(fake.seen().size(), 2u);
}

TEST(Patience, WaitsDouble_Scatter_AndEndAfterADay) {
  Patience patience(0, 0);
  const int64_t start = 1'000;
  for (int i = 0; i < 30; i++) {
    const auto wait = patience.refused(7, start);
    ASSERT_TRUE(wait);
    const int64_t base = std::min(Patience::kFirstNs << std::min(i, 20), Patience::kLongestNs);
    EXPECT_GE(*wait, base / 2);
    EXPECT_LE(*wait, base + base / 2);
  }
  EXPECT_EQ(patience.attempts(), 30);
  EXPECT_FALSE(patience.refused(7, start + Patience::kLimitNs));
  EXPECT_TRUE(patience.refused(8, start + Patience::kLimitNs));  // another event begins anew
}

TEST(PruneJournal, TakesOldEvents_NeverTheNewestStateOrWhatADurableHookWaitsFor) {  // P2
  testing::TempDir dir;
  const std::string file = dir / "j.db";
  {
    auto journal = testing::open_journal(file);
    for (int i = 1; i <= 100; i++) {
      Event e = testing::file_event("f" + std::to_string(i));
      e.time_ns = i;
      journal->append(std::move(e));
    }
    Event state;
    state.kind = EventKind::state;
    state.time_ns = 101;
    state.json = R"({"from":"arming","event":"ok","to":"ready"})";
    journal->append(std::move(state));
    journal->append(testing::file_event("last"));
    ASSERT_TRUE(journal->sync(10'000));
    journal->keep_place("h", {60, SG_EV_ALL, 0, 0});
  }
  EXPECT_EQ(prune_journal(file, 41, UINT64_MAX).value(), 40u);
  EXPECT_EQ(summarize_journal(file)->first_seq, 41u);
  EXPECT_EQ(prune_journal(file, INT64_MAX, UINT64_MAX).value(), 20u);  // up to the hook's place
  EXPECT_EQ(summarize_journal(file)->first_seq, 61u);
  testing::open_journal(file)->drop_place("h");
  EXPECT_EQ(prune_journal(file, INT64_MAX, 0).value(), 40u);  // up to the state
  const auto summary = summarize_journal(file);
  EXPECT_EQ(summary->first_seq, 101u);
  EXPECT_EQ(summary->last_seq, 102u);
  EXPECT_EQ(summary->state, "ready");
  auto journal = testing::open_journal(file);
  journal->append(testing::file_event("next"));
  ASSERT_TRUE(journal->sync(10'000));
  EXPECT_EQ(journal->last_seq(), 103u);
}

TEST(PruneJournal, TooLarge_IsAboutAsLargeAsItMayBe) {  // P2
  testing::TempDir dir;
  const std::string file = dir / "j.db";
  {
    auto journal = testing::open_journal(file);
    testing::append_many(*journal, 20'000);
    Event state;
    state.kind = EventKind::state;
    state.json = "{}";
    journal->append(std::move(state));
  }
  const auto before = std::filesystem::file_size(file);
  ASSERT_TRUE(prune_journal(file, INT64_MIN, before / 2));
  const auto after = std::filesystem::file_size(file);
  EXPECT_LT(after, before * 6 / 10);
  EXPECT_GT(after, before * 3 / 10);
}

TEST(JournalSummary, ReadingAClosedJournal_LeavesNothingBesideIt) {
  testing::TempDir dir;
  testing::append_many(*testing::open_journal(dir / "j.db"), 10);
  EXPECT_EQ(summarize_journal(dir / "j.db")->events, 10u);
  EXPECT_EQ(read_journal(dir / "j.db", 0, 100)->size(), 10u);
  size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(dir.path()))
    files++;
  EXPECT_EQ(files, 1u);
}

TEST(JournalSummary, TellsTheRunThatHasNotEnded) {
  testing::TempDir dir;
  auto journal = testing::open_journal(dir / "j.db");
  auto run = [&](EventKind kind, const std::string& id) {
    Event e;
    e.kind = kind;
    e.run_id = id;
    journal->append(std::move(e));
    EXPECT_TRUE(journal->sync(10'000));
    return summarize_journal(dir / "j.db")->open_run;
  };
  EXPECT_EQ(run(EventKind::run_start, "r1"), "r1");
  EXPECT_EQ(run(EventKind::run_end, "r1"), "");
  EXPECT_EQ(run(EventKind::run_start, "r2"), "r2");
}

}  // namespace
}  // namespace sandglass
