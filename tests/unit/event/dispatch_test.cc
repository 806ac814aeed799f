// Which events reach a handler, in which order, and what its failures do.
#include <stdexcept>

#include "unit/event/fake_hook.h"

namespace sandglass {
namespace {

using testing::bit;
using testing::FakeHook;
using testing::text_of;
using Strings = std::vector<std::string>;

class Dispatch : public testing::DispatchTest {};

TEST_F(Dispatch, Masks_SelectEvents_InSeqOrder) {  // H1, H5
  FakeHook& files = hook();
  FakeHook& ready = hook();
  add(files, "files");
  add(ready, "ready", {bit(SG_EV_READY)});
  start();
  append("", EventKind::ready);
  append("a", EventKind::file_create);
  append("b", EventKind::file_delete);
  EXPECT_EQ(drain().late.events, 0u);
  EXPECT_EQ(files.seen(), (Strings{"create a", "delete b"}));
  EXPECT_EQ(ready.seen(), (Strings{"ready "}));
}

TEST_F(Dispatch, EachEvent_IsALineOfTheSandboxCategory) {  // G1
  FakeHook& fake = hook();
  add(fake, "files");
  start();
  append("a\x1b", EventKind::file_create);
  append("b", EventKind::file_delete);
  drain();
  EXPECT_EQ(logged_.text(),
            "sandbox: hook files gets event box-1/1 (create a\\x1b)\n"
            "sandbox: hook files gets event box-1/2 (delete b)\n");
}

TEST_F(Dispatch, ManyEvents_EachOnce_InOrder) {  // H2, H5, E3
  FakeHook& fake = hook();
  std::vector<uint64_t> seqs;
  fake.on_event = [&](const sg_host*, sg_call*, const sg_event* event) {
    seqs.push_back(event->seq);
    return SG_OK;
  };
  add(fake, "h");
  start();
  testing::append_many(*journal_, 10'000);
  EXPECT_EQ(drain().late.events, 0u);
  ASSERT_EQ(seqs.size(), 10'000u);
  for (size_t i = 0; i < seqs.size(); i++) ASSERT_EQ(seqs[i], i + 1);
}

TEST_F(Dispatch, EventsBeforeTheStart_AreNotDelivered) {
  FakeHook& fake = hook();
  add(fake, "h");
  append("old");
  ASSERT_TRUE(journal_->sync(10'000));
  start();
  append("new");
  drain();
  EXPECT_EQ(fake.seen(), (Strings{"change new"}));
}

TEST_F(Dispatch, SeveralMasks_DeliverOncePerMatch_OnFileFirst) {  // H5
  FakeHook& fake = hook();
  add(fake, "h", {SG_EV_FILES, bit(SG_EV_FILE_CHANGE)});
  start();
  append("a");
  append("b", EventKind::file_create);
  drain();
  EXPECT_EQ(fake.seen(), (Strings{"change a", "change a", "create b"}));
}

TEST_F(Dispatch, Interests_AreAskedOnce_AndNarrowTheMasks) {  // H1
  FakeHook& fake = hook();
  fake.interests = bit(SG_EV_FILE_DELETE);
  add(fake, "h");
  start();
  append("a");
  append("b", EventKind::file_delete);
  drain();
  EXPECT_EQ(fake.seen(), (Strings{"delete b"}));
  EXPECT_EQ(fake.interests_asked, 1);
}

TEST_F(Dispatch, Event_HasEveryFieldOfTheAbi_AndTextsEndWithNul) {  // E1, E2, W9
  FakeHook& fake = hook();
  Event e = testing::file_event("src/\xff.c", EventKind::file_delete);
  e.flags = event_symlink;
  e.time_ns = 77;
  e.run_id = "run-1";
  e.actor = {ActorKind::run, 42, "sed -i"};
  fake.on_event = [](const sg_host*, sg_call* call, const sg_event* event) {
    EXPECT_EQ(event->struct_size, sizeof(sg_event));
    EXPECT_EQ(event->kind, static_cast<uint32_t>(SG_EV_FILE_DELETE));
    EXPECT_EQ(event->flags, static_cast<uint32_t>(SG_EVF_SYMLINK));
    EXPECT_EQ(event->seq, 1u);
    EXPECT_EQ(event->time_ns, 77);
    EXPECT_EQ(text_of(event->id), "box-1/1");
    EXPECT_EQ(text_of(event->sandbox_id), "box-1");
    EXPECT_EQ(text_of(event->run_id), "run-1");
    EXPECT_EQ(text_of(event->path), "/workspace/src/\xff.c");
    EXPECT_EQ(text_of(event->relative), "src/\xff.c");
    EXPECT_EQ(text_of(event->topic), "sandbox.file");
    EXPECT_EQ(text_of(event->actor), "sed -i");
    EXPECT_EQ(event->actor_pid, 42);
    EXPECT_EQ(event->actor_state, static_cast<uint32_t>(SG_ACTOR_RUN));
    for (sg_str s : {event->id, event->sandbox_id, event->run_id, event->topic, event->json})
      EXPECT_EQ(s.data[s.len], '\0');
    EXPECT_EQ(text_of(call->sandbox_id), "box-1");
    EXPECT_NE(call->deadline_ns, 0u);
    return SG_OK;
  };
  add(fake, "h");
  start();
  journal_->append(e);
  EXPECT_EQ(drain().late.events, 0u);
  EXPECT_EQ(fake.seen().size(), 1u);
}

TEST_F(Dispatch, FailingHook_IsOneLineWithItsWords_AndNextEventsCome) {  // H4, L3, C4
  FakeHook& bad = hook();
  FakeHook& good = hook();
  bad.on_event = [](const sg_host* host, sg_call* call, const sg_event* event) {
    if (event->seq == 2) return sg_status{SG_OK};
    return host->fail(host, call, SG_E_FAILED, 0, {"", 0}, testing::str("no luck"));
  };
  add(bad, "bad");
  add(good, "good");
  start();
  for (const char* path : {"a", "b", "c"}) append(path);
  EXPECT_EQ(drain().late.events, 0u);
  EXPECT_EQ(bad.seen().size(), 3u);
  EXPECT_EQ(good.seen().size(), 3u);
  EXPECT_EQ(logged_.count("errors: "), 2u) << logged_.text();
  EXPECT_EQ(logged_.count("errors: hook bad failed on event box-1/1 (change a): no luck\n"), 1u);
  EXPECT_EQ(logged_.count("errors: hook bad failed on event box-1/3 (change c): no luck\n"), 1u);
}

TEST_F(Dispatch, QuietFailure_IsADebugLine) {
  FakeHook& fake = hook();
  fake.on_event = [](const sg_host* host, sg_call* call, const sg_event*) {
    return host->fail(host, call, SG_E_BUSY, SG_FAIL_QUIET, {"", 0}, testing::str("later"));
  };
  add(fake, "h");
  start();
  append("a");
  drain();
  EXPECT_EQ(logged_.count("errors: "), 0u) << logged_.text();
  EXPECT_EQ(logged_.count("sandbox: hook h failed on event box-1/1 (change a): later"), 1u);
}

TEST_F(Dispatch, ThrowingHook_IsContained) {  // H4, C4
  FakeHook& fake = hook();
  fake.on_event = [](const sg_host*, sg_call*, const sg_event* event) -> sg_status {
    if (event->seq == 1) throw std::runtime_error("boom");
    return SG_OK;
  };
  add(fake, "bad");
  start();
  append("a");
  append("b");
  EXPECT_EQ(drain().late.events, 0u);
  EXPECT_EQ(fake.seen().size(), 2u);
  EXPECT_EQ(logged_.count("boom"), 1u) << logged_.text();
}

TEST_F(Dispatch, NameWithTerminalCodes_IsShownEscaped) {  // P3
  FakeHook& fake = hook();
  fake.on_event = [](const sg_host*, sg_call*, const sg_event*) { return sg_status{SG_E_FAILED}; };
  add(fake, "h\x1b");
  start();
  append("a\x1b[2J\nerrors: forged");
  drain();
  EXPECT_EQ(logged_.text().find('\x1b'), std::string::npos);
  EXPECT_EQ(logged_.count("\nerrors: forged"), 0u);
  EXPECT_EQ(logged_.count("failed on event box-1/1 (change a\\x1b[2J\\nerrors: forged)"), 1u)
      << logged_.text();
}

// A batch call that records what it was offered.
struct Batches {
  std::vector<std::vector<uint64_t>> offered;
  FakeHook::OnBatch recording(FakeHook::OnBatch then) {
    return [this, then = std::move(then)](const sg_host* host, sg_call* call,
                                          const sg_event* const* events, size_t count,
                                          size_t* accepted) {
      auto& mine = offered.emplace_back();
      for (size_t i = 0; i < count; i++) mine.push_back(events[i]->seq);
      return then(host, call, events, count, accepted);
    };
  }
};

sg_status take_all(const sg_host*, sg_call*, const sg_event* const*, size_t count,
                   size_t* accepted) {
  *accepted = count;
  return SG_OK;
}

// Holds the handler in its first event until enough have gathered behind it for a batch.
class Batching : public Dispatch {
 protected:
  void run(FakeHook& fake, FakeHook::OnBatch then, int count,
           std::vector<uint64_t> masks = {SG_EV_FILES}) {
    auto inner = batches_.recording(std::move(then));
    fake.on_batch = [this, inner](const sg_host* host, sg_call* call, const sg_event* const* events,
                                  size_t n, size_t* accepted) {
      if (events[0]->seq == 1) {
        EXPECT_TRUE(gate_.pass());
        return take_all(host, call, events, n, accepted);
      }
      return inner(host, call, events, n, accepted);
    };
    add(fake, "h", std::move(masks));
    start();
    append("first");
    ASSERT_TRUE(gate_.wait_reached());
    testing::append_many(*journal_, count);
    ASSERT_TRUE(journal_->sync(10'000));
    gate_.open();
    EXPECT_EQ(drain().late.events, 0u);
  }
  std::vector<uint64_t> flat() const {
    std::vector<uint64_t> out;
    for (const auto& batch : batches_.offered) out.insert(out.end(), batch.begin(), batch.end());
    return out;
  }
  testing::Gate gate_;
  Batches batches_;
};

TEST_F(Batching, Offered_GetsUpTo64AtOnce_InOrder) {
  FakeHook& fake = hook();
  run(fake, take_all, 200);
  size_t largest = 0;
  for (const auto& batch : batches_.offered) largest = std::max(largest, batch.size());
  EXPECT_EQ(largest, 64u);
  const auto all = flat();
  ASSERT_EQ(all.size(), 201 - (all.front() - 1));
  for (size_t i = 0; i < all.size(); i++) ASSERT_EQ(all[i], all.front() + i);
  EXPECT_TRUE(fake.seen().empty());  // on_event is not used beside it
}

TEST_F(Batching, SeveralMasks_ShareOneEvent_InOrder) {  // H5
  FakeHook& fake = hook();
  std::vector<std::pair<uint64_t, const sg_event*>> all;
  run(fake,
      [&](const sg_host* host, sg_call* call, const sg_event* const* events, size_t count,
          size_t* accepted) {
        EXPECT_LE(count, 64u);
        for (size_t i = 0; i < count; i++) all.emplace_back(events[i]->seq, events[i]);
        return take_all(host, call, events, count, accepted);
      },
      100, {SG_EV_FILES, bit(SG_EV_FILE_CHANGE)});
  ASSERT_GE(all.size(), 2u);
  for (size_t i = 1; i < all.size(); i++)
    ASSERT_TRUE(all[i].first == all[i - 1].first || all[i].first == all[i - 1].first + 1);
  for (size_t i = all.size() % 2; i + 1 < all.size(); i += 2) {
    ASSERT_EQ(all[i].first, all[i + 1].first);
    ASSERT_EQ(all[i].second, all[i + 1].second);
  }
}

TEST_F(Batching, PartlyAccepted_TheRestIsOfferedAgain) {
  FakeHook& fake = hook();
  std::vector<uint64_t> done;
  run(
      fake,
      [&](const sg_host*, sg_call*, const sg_event* const* events, size_t count, size_t* accepted) {
        *accepted = std::min<size_t>(count, 3);
        for (size_t i = 0; i < *accepted; i++) done.push_back(events[i]->seq);
        return SG_OK;
      },
      50);
  ASSERT_FALSE(done.empty());
  for (size_t i = 0; i < done.size(); i++) ASSERT_EQ(done[i], done.front() + i);
  EXPECT_EQ(done.back(), 51u);
}

TEST_F(Batching, NothingAccepted_GoesOnOneByOne) {
  FakeHook& fake = hook();
  run(
      fake,
      [](const sg_host*, sg_call*, const sg_event* const*, size_t, size_t* accepted) {
        *accepted = 0;
        return SG_OK;
      },
      20);
  EXPECT_EQ(fake.seen().size(), batches_.offered.size());
  EXPECT_GE(fake.seen().size(), 1u);
  EXPECT_EQ(fake.seen().back(), "change f19");
}

TEST_F(Batching, FailingInTheMiddle_NamesThatEvent_AndGoesOnBehindIt) {  // H4
  FakeHook& fake = hook();
  std::vector<uint64_t> done;
  run(
      fake,
      [&](const sg_host* host, sg_call* call, const sg_event* const* events, size_t count,
          size_t* accepted) {
        for (*accepted = 0; *accepted < count; ++*accepted) {
          if (events[*accepted]->seq == 30)
            return host->fail(host, call, SG_E_FAILED, 0, {"", 0}, testing::str("not that one"));
          done.push_back(events[*accepted]->seq);
        }
        return sg_status{SG_OK};
      },
      60);
  EXPECT_EQ(logged_.count("errors: "), 1u) << logged_.text();
  EXPECT_EQ(logged_.count("hook h failed on event box-1/30 (change f28): not that one"), 1u);
  for (size_t i = 1; i < done.size(); i++)
    ASSERT_EQ(done[i], done[i - 1] + (done[i - 1] == 29 ? 2 : 1));
  EXPECT_EQ(done.back(), 61u);
}

}  // namespace
}  // namespace sandglass
