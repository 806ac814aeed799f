// The feed: readiness, backlog, blind subtrees, holds that end by themselves, closing.
#include "watch/feed.h"

#include <atomic>
#include <condition_variable>
#include <filesystem>

#include "support/logged.h"
#include "unit/watch/judge_fixture.h"

namespace sandglass::watch::testing {

constexpr int64_t kSoonNs = 10'000'000'000;  // a deadline, never waited for in full

class FeedTest : public ::testing::Test {
 protected:
  void start(bool lists = false) {
    replica_ = std::make_unique<Replica>(dir_.path());
    Target target;
    target.local_root = dir_.path();
    target.interval_ms = 5;
    feed_ = std::make_unique<Feed>(
        target,
        [this](std::vector<FileChange> batch) {
          replica_->apply(batch);
          std::lock_guard lock(mutex_);
          for (const FileChange& one : batch)
            told_.push_back(one.kind == ChangeKind::rescan ? "rescan" : one.path);
          came_.notify_all();
        },
        lists);
    abi_ = feed_->abi();
  }
  void ready(bool lists = false) {
    start(lists);
    abi_->ready(abi_);
    ASSERT_TRUE(feed_->wait_ready(mono_ns() + kSoonNs));
    feed_->go_live();
  }

  sg_status hint(uint32_t kind, uint32_t flags, const std::string& path) {
    sg_hint one{};
    one.struct_size = sizeof one;
    one.kind = kind;
    one.flags = flags;
    one.pidfd = -1;
    one.seen_ns = static_cast<uint64_t>(mono_ns());
    one.path = {reinterpret_cast<const uint8_t*>(path.data()), path.size()};
    const sg_hint* const list[] = {&one};
    return abi_->hints(abi_, list, 1);
  }

  // Of the root: regular files.
  sg_status list(const std::vector<std::string>& names) {
    std::vector<sg_entry> entries;
    std::vector<const sg_entry*> pointers;
    for (const std::string& name : names) {
      sg_entry& one = entries.emplace_back();
      one.struct_size = sizeof one;
      one.type = 'f';
      one.name = {reinterpret_cast<const uint8_t*>(name.data()), name.size()};
    }
    for (const sg_entry& one : entries) pointers.push_back(&one);
    return abi_->listing(abi_, {nullptr, 0}, pointers.data(), pointers.size(), 1);
  }

  bool wait_for(const std::string& what) {
    std::unique_lock lock(mutex_);
    return came_.wait_for(lock, std::chrono::nanoseconds(kSoonNs), [&] {
      return std::find(told_.begin(), told_.end(), what) != told_.end();
    });
  }

  sandglass::testing::TempDir dir_;
  std::unique_ptr<Replica> replica_;
  std::mutex mutex_;
  std::condition_variable came_;
  Lines told_;
  std::unique_ptr<Feed> feed_;
  sg_watch_sink* abi_ = nullptr;
};

TEST_F(FeedTest, HintsAndVerdicts_AreLinesOfTheWatchCategory) {  // G1
  const sandglass::testing::Logged logged;
  ready();
  dir_.write("f\n", "x");
  hint(SG_HINT_ENTRY, 0, "f\n");
  EXPECT_TRUE(feed_->numbers().held == 0 || (feed_->release_held(), true));
  EXPECT_EQ(logged.text(), "watch: hint: look at f\\n\nwatch: judged: create f\\n\n");
}

TEST_F(FeedTest, BeforeReady_EverythingIsFoldedIntoTheFirstLook) {  // rule 18
  dir_.write("f", "1");
  start();
  EXPECT_EQ(hint(SG_HINT_ENTRY, kSaved, "f"), SG_OK);
  abi_->ready(abi_);
  EXPECT_EQ(hint(SG_HINT_ENTRY, kSaved, "f"), SG_OK);
  feed_->go_live();
  EXPECT_EQ(feed_->numbers().files, 1u);
  EXPECT_EQ(replica_->take_log(), Lines{});
}

TEST_F(FeedTest, NotReady_IsSaidInTime) {
  start();
  auto waited = feed_->wait_ready(mono_ns() + 1'000'000);
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().fault, Fault::timeout);
  feed_->ended(fail(Fault::denied, "because"));
  waited = feed_->wait_ready(mono_ns() + kSoonNs);
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().text, "because");
}

TEST_F(FeedTest, RootThatIsNotThere_IsSaid) {
  start();
  std::filesystem::remove_all(dir_.path());
  abi_->ready(abi_);
  EXPECT_FALSE(feed_->wait_ready(mono_ns() + kSoonNs));
}

TEST_F(FeedTest, HeldFile_IsToldByItself) {
  ready();
  dir_.write("f", "1");
  hint(SG_HINT_ENTRY, kBorn | kData, "f");
  EXPECT_TRUE(wait_for("f"));
}

TEST_F(FeedTest, Release_EndsHolds) {  // W8
  ready();
  dir_.write("f", "1");
  hint(SG_HINT_ENTRY, kBorn | kData, "f");
  feed_->release_held();
  EXPECT_EQ(replica_->take_log(), Lines{"create f"});
}

TEST_F(FeedTest, Lost_RescansAndCompares) {  // W5
  dir_.write("a", "1");
  ready();
  dir_.write("b", "2");
  std::filesystem::remove(dir_ / "a");
  hint(SG_HINT_LOST, 0, "");
  EXPECT_EQ(replica_->take_log(), (Lines{"rescan", "delete a", "create b"}));
  EXPECT_EQ(feed_->numbers().rescans, 1u);
}

TEST_F(FeedTest, ConsumerBehind_HintsFoldIntoOneRescan) {
  ready();
  std::atomic<bool> behind{true};
  feed_->set_backlogged([&] { return behind.load(); });
  for (int i = 0; i < 50; ++i) {
    dir_.write("f" + std::to_string(i), "1");
    hint(SG_HINT_ENTRY, kSaved, "f" + std::to_string(i));
  }
  EXPECT_EQ(replica_->take_log(), Lines{});
  behind = false;
  ASSERT_TRUE(wait_for("f49"));
  feed_->release_held();
  const Lines log = replica_->take_log();
  EXPECT_EQ(log.size(), 51u);
  EXPECT_EQ(std::count(log.begin(), log.end(), "rescan"), 1);
  EXPECT_EQ(replica_->difference(), "");
}

TEST_F(FeedTest, BlindSubtree_IsPolledUntilItIsSeenAgain) {  // rule 12, A4
  dir_.write("d/old", "1");
  ready();
  hint(SG_HINT_BLIND, 0, "d");
  dir_.write("d/f", "1");
  EXPECT_TRUE(wait_for("d/f"));
  EXPECT_EQ(feed_->numbers().blind, 1u);
  hint(SG_HINT_SEEING, 0, "");
  EXPECT_EQ(feed_->numbers().blind, 0u);
}

TEST_F(FeedTest, WatcherThatEnds_IsReplacedByPolling) {  // L2
  ready();
  feed_->ended(fail(Fault::lost, "it went away"));
  dir_.write("f", "1");
  EXPECT_TRUE(wait_for("f"));
}

TEST_F(FeedTest, PathsThatLeadOut_AreRefused) {  // B9
  ready();
  for (const char* path : {"..", "../x", "/etc/passwd", "a//b", "a/", "./a"})
    EXPECT_EQ(hint(SG_HINT_ENTRY, kSaved, path), SG_OK);
  EXPECT_EQ(hint(SG_HINT_ENTRY, kSaved, std::string("a\0b", 3)), SG_OK);
  EXPECT_EQ(replica_->take_log(), Lines{});
}

TEST_F(FeedTest, Closed_NothingIsDelivered) {  // W8
  ready();
  feed_->close();
  dir_.write("f", "1");
  EXPECT_EQ(hint(SG_HINT_ENTRY, kSaved, "f"), SG_E_CANCELLED);
  feed_->audit();
  EXPECT_EQ(replica_->take_log(), Lines{});
}

TEST_F(FeedTest, WatcherThatLists_NothingIsLookedAt) {  // W7
  dir_.write("there", "1");
  ready(true);
  EXPECT_EQ(feed_->numbers().files, 0u);
  feed_->audit();
  hint(SG_HINT_ENTRY, kSaved, "there");
  EXPECT_EQ(list({"told"}), SG_OK);
  EXPECT_EQ(replica_->take_log(), Lines{"create told"});
}

TEST_F(FeedTest, Canary_InAListing_IsMetAndNeverReported) {  // W2
  start(true);
  abi_->ready(abi_);
  feed_->expect(".canary");
  list({"a"});
  EXPECT_FALSE(feed_->wait_expected(mono_ns()));
  list({"a", ".canary"});
  EXPECT_TRUE(feed_->wait_expected(mono_ns() + kSoonNs));
  feed_->go_live();
  list({"a", ".canary"});
  list({"a"});
  EXPECT_EQ(replica_->take_log(), Lines{});
}

TEST_F(FeedTest, ConsumerBehind_FactsAreKept) {  // W5
  ready(true);
  list({"a", "b"});
  replica_->take_log();
  std::atomic<bool> behind{true};
  feed_->set_backlogged([&] { return behind.load(); });
  list({"b"});
  hint(SG_HINT_CHANGED, kData, "b");
  EXPECT_EQ(replica_->take_log(), Lines{});
  told_.clear();
  behind = false;
  ASSERT_TRUE(wait_for("b"));
  EXPECT_EQ(replica_->take_log(), (Lines{"rescan", "change b"}));
  list({"b"});
  EXPECT_EQ(replica_->take_log(), Lines{"delete a"});
}

TEST_F(FeedTest, WatcherThatListsAndEnds_IsAnError) {
  const sandglass::testing::Logged logged;
  ready(true);
  feed_->ended(fail(Fault::lost, "the box went away"));
  EXPECT_EQ(logged.count("the watcher ended, changes are not seen: the box went away"), 1u);
}

}  // namespace sandglass::watch::testing
