// Handlers that are slow, late or deaf: nobody else waits for them.
#include <poll.h>

#include "base/clock.h"
#include "unit/event/fake_hook.h"

namespace sandglass {
namespace {

using testing::FakeHook;
using testing::Gate;
using testing::kMs;
using Strings = std::vector<std::string>;

class Limits : public testing::DispatchTest {};

FakeHook::OnEvent blocking_at(uint64_t seq, std::shared_ptr<Gate> gate) {
  return [seq, gate](const sg_host*, sg_call*, const sg_event* event) {
    if (event->seq == seq) gate->pass();  // deaf to cancellation
    return sg_status{SG_OK};
  };
}

FakeHook::OnEvent waiting_for_the_end() {
  return [](const sg_host* host, sg_call* call, const sg_event*) {
    return host->wait(host, call, -1, 0, 60'000);
  };
}

TEST_F(Limits, SlowHandler_DelaysNoOther) {  // H5
  auto gate = std::make_shared<Gate>();
  FakeHook& slow = hook();
  FakeHook& fast = hook();
  slow.on_event = blocking_at(1, gate);
  add(slow, "slow");
  add(fast, "fast");
  start();
  append("a");
  append("b");
  EXPECT_TRUE(fast.wait_seen(2));
  EXPECT_TRUE(slow.wait_seen(1));
  const DrainReport report = drain(50);
  EXPECT_EQ(report.late.hooks, (Strings{"slow"}));
  EXPECT_EQ(report.late.events, 2u);
  gate->open();
  EXPECT_EQ(drain().late.events, 0u);
  EXPECT_EQ(slow.seen().size(), 2u);
}

TEST_F(Limits, Drain_CountsOnlyWhatAHandlerAskedFor) {  // H6
  auto gate = std::make_shared<Gate>();
  FakeHook& deletes = hook();
  FakeHook& creates = hook();
  deletes.on_event = creates.on_event = blocking_at(1, gate);
  add(deletes, "deletes", {testing::bit(SG_EV_FILE_DELETE) | testing::bit(SG_EV_READY)});
  add(creates, "creates", {testing::bit(SG_EV_FILE_CREATE) | testing::bit(SG_EV_READY)});
  start();
  append("", EventKind::ready);
  EXPECT_TRUE(deletes.wait_seen(1));
  EXPECT_TRUE(creates.wait_seen(1));
  append("a", EventKind::file_create);
  append("b", EventKind::file_change);  // nobody's
  append("c", EventKind::file_delete);
  append("d", EventKind::file_delete);
  const DrainReport report = drain(0);
  EXPECT_EQ(report.late.events, 4u);  // ready, a, c, d
  EXPECT_EQ(report.late.hooks, (Strings{"deletes", "creates"}));
  gate->open();
  EXPECT_EQ(drain().late.events, 0u);
}

TEST_F(Limits, Drain_NoHandlers_ReturnsAtOnce) {
  start();
  append("a");
  EXPECT_EQ(drain().late.events, 0u);
}

TEST_F(Limits, LateHook_IsCancelled_SaidOnce_AndGoesOn) {  // H5, C2
  FakeHook& late = hook();
  auto wait = waiting_for_the_end();
  late.on_event = [wait](const sg_host* host, sg_call* call, const sg_event* event) {
    return event->seq == 1 ? wait(host, call, event) : sg_status{SG_OK};
  };
  add(late, "late", {SG_EV_FILES}, 50 * kMs);
  start();
  const int64_t before = mono_ns();
  append("a");
  append("b");
  EXPECT_EQ(drain().late.events, 0u);
  EXPECT_GE(mono_ns() - before, 50 * kMs);
  EXPECT_EQ(late.seen(), (Strings{"change a", "change b"}));
  EXPECT_EQ(logged_.count("errors: "), 1u) << logged_.text();
  EXPECT_EQ(logged_.count("hook late was stopped on event box-1/1 (change a) at its time limit of "
                          "50 ms"),
            1u);
}

TEST_F(Limits, WatchfulHook_IsCancelledThroughItsDescriptorAlone) {  // H5
  FakeHook& fake = hook();
  fake.on_event = [](const sg_host* host, sg_call* call, const sg_event*) {
    sg_call blind = *call;  // as a plugin that looks at cancel_fd and nothing else
    pollfd fd{blind.cancel_fd, POLLIN, 0};
    return ::poll(&fd, 1, 30'000) == 1
               ? host->fail(host, call, SG_E_CANCELLED, 0, {"", 0}, testing::str("I saw it"))
               : sg_status{SG_OK};
  };
  add(fake, "h", {SG_EV_FILES}, 50 * kMs);
  start();
  append("a");
  EXPECT_EQ(drain().late.events, 0u);
  EXPECT_EQ(logged_.count("I saw it"), 1u) << logged_.text();
}

TEST_F(Limits, DeafHook_IsLeftBehind_OthersDrainAndStopGoOn) {  // H5, H6
  auto gate = std::make_shared<Gate>();
  FakeHook& deaf = hook();
  FakeHook& other = hook();
  deaf.on_event = blocking_at(1, gate);
  add(deaf, "deaf", {SG_EV_FILES}, 50 * kMs);
  add(other, "other");
  start();
  append("a");
  append("b");
  const DrainReport report =
      drain(20'000);  // ends when the handler is given up, 1 s behind its limit
  EXPECT_EQ(report.given_up.hooks, (Strings{"deaf"}));
  EXPECT_EQ(report.given_up.events, 2u);
  EXPECT_EQ(other.seen().size(), 2u);
  EXPECT_EQ(logged_.count("hook deaf does not return from event box-1/1 (change a)"), 1u)
      << logged_.text();
  append("c");
  EXPECT_EQ(drain(20'000).given_up.events, 1u);
  EXPECT_EQ(other.seen().size(), 3u);
  const int64_t before = mono_ns();
  dispatcher_->stop(10'000);
  EXPECT_LT(mono_ns() - before, 5'000 * kMs);
  dispatcher_.reset();
  EXPECT_EQ(other.destroyed, 1);
  gate->open();
  EXPECT_EQ(deaf.destroyed, 0);
  EXPECT_EQ(deaf.seen().size(), 1u);
  EXPECT_EQ(logged_.count("errors: "), 1u);
}

// What a thread left behind does when it comes back, once all it knew is gone.
TEST_F(Limits, LeftBehindThread_ComesBackAfterTheEnd_AndHarmsNothing) {
  auto gate = std::make_shared<Gate>(), back = std::make_shared<Gate>();
  FakeHook& deaf = hook();
  deaf.on_event = [gate, back](const sg_host* host, sg_call* call, const sg_event* event) {
    gate->pass();
    auto* events = static_cast<const sg_event_service*>(host->service(host, SG_SERVICE_EVENT));
    sg_content content{};
    content.struct_size = sizeof content;
    events->content(host, call, event, SG_DIFF, &content);
    EXPECT_NE(content.state, static_cast<uint32_t>(SG_CONTENT_HERE));
    EXPECT_EQ(events->emit(host, event->sandbox_id, testing::str("acme.x"), testing::str("1")),
              SG_E_BUSY);
    back->open();
    return sg_status{SG_OK};
  };
  add(deaf, "deaf");
  start([](const Event&, git::Which, bool) {
    ADD_FAILURE() << "content was read for a handler that was left behind";
    return git::Piece{};
  });
  append("a");
  EXPECT_TRUE(deaf.wait_seen(1));
  const int64_t before = mono_ns();
  dispatcher_->stop(100);
  EXPECT_GE(mono_ns() - before, 100 * kMs);
  EXPECT_LT(mono_ns() - before, 3'000 * kMs);
  EXPECT_EQ(logged_.count("its thread is left behind"), 1u) << logged_.text();
  dispatcher_.reset();
  journal_.reset();
  gate->open();
  EXPECT_TRUE(back->pass());
}

TEST_F(Limits, Stop_CancelsTheRunningCall_DropsTheRest_AndFlushes) {
  FakeHook& fake = hook();
  std::atomic<int> flushed{0};
  fake.on_event = waiting_for_the_end();
  fake.flush = [&](const sg_host*, sg_call* call) {
    EXPECT_NE(call->deadline_ns, 0u);
    flushed++;
    return sg_status{SG_OK};
  };
  add(fake, "h");
  start();
  testing::append_many(*journal_, 10);
  EXPECT_TRUE(fake.wait_seen(1));
  const int64_t before = mono_ns();
  dispatcher_->stop(10'000);
  EXPECT_LT(mono_ns() - before, 5'000 * kMs);
  EXPECT_EQ(fake.seen().size(), 1u);
  EXPECT_EQ(flushed, 1);
  EXPECT_EQ(logged_.count("errors: "), 0u) << logged_.text();
  dispatcher_.reset();
  EXPECT_EQ(fake.destroyed, 1);
}

TEST_F(Limits, Stop_FlushThatWaits_IsCancelledBeforeTheEnd) {
  FakeHook& fake = hook();
  fake.flush = [](const sg_host* host, sg_call* call) {
    return host->wait(host, call, -1, 0, 60'000);
  };
  add(fake, "h");
  start();
  append("a");
  drain();
  const int64_t before = mono_ns();
  dispatcher_->stop(400);
  EXPECT_LT(mono_ns() - before, 3'000 * kMs);
  EXPECT_EQ(logged_.count("hook h was stopped on flush()"), 1u) << logged_.text();
  dispatcher_.reset();
  EXPECT_EQ(fake.destroyed, 1);  // it was not left behind
}

TEST_F(Limits, Stop_IdleHandlers_IsQuick_AndMayComeTwice) {
  FakeHook& fake = hook();
  add(fake, "h");
  start();
  const int64_t before = mono_ns();
  dispatcher_->stop(10'000);
  dispatcher_->stop(10'000);
  EXPECT_LT(mono_ns() - before, 5'000 * kMs);
}

}  // namespace
}  // namespace sandglass
