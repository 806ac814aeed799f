#include "event/dispatch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "base/clock.h"
#include "base/log.h"
#include "support/temp_dir.h"

namespace sandglass {
namespace {

using testing::TempDir;

// What the test's hooks do and saw. One at a time: tests in one program run one after the other.
struct Script {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> seen;  // "<name> <kind> <relative>"
  std::function<sg_status(const sg_host*, sg_call*, const sg_event*)> act;

  void note(std::string line) {
    std::lock_guard lock(mutex);
    seen.push_back(std::move(line));
    changed.notify_all();
  }
  bool wait_for(size_t count) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::seconds(10), [&] { return seen.size() >= count; });
  }
};
Script* script = nullptr;

sg_status create(const sg_host* host, sg_call*, const sg_config*, void** self) {
  *self = const_cast<sg_host*>(host);
  return SG_OK;
}
void destroy(void*) {}
uint64_t all_events(void*) { return SG_EV_ALL; }
sg_status on_event(void* self, sg_call* call, const sg_event* event) {
  const std::string path(reinterpret_cast<const char*>(event->relative.data), event->relative.len);
  script->note(std::to_string(event->kind) + " " + path);
  return script->act ? script->act(static_cast<const sg_host*>(self), call, event) : SG_OK;
}
const sg_hook kHook = {sizeof(sg_hook), 0, all_events, on_event, nullptr, nullptr};
const sg_type kType = {sizeof(sg_type), 0, SG_KIND_HOOK, "t", "", nullptr, &kHook, create, destroy, nullptr};

class Dispatch : public ::testing::Test {
 protected:
  void SetUp() override {
    script = &script_;
    journal_ = std::move(*Journal::open(dir_ / "j.db", {"box-1", "/workspace"}));
    log::replace_sink([this](log::Level, std::string_view category, std::string_view text) {
      std::lock_guard lock(log_mutex_);
      log_ += std::string(category) + ": " + std::string(text) + "\n";
    });
  }
  void TearDown() override { log::replace_sink(nullptr); }
  std::string logged() {
    std::lock_guard lock(log_mutex_);
    return log_;
  }
  Handler handler(const std::string& name, std::vector<uint64_t> masks, int64_t limit_ns = 10'000'000'000) {
    type_.abi = &kType;
    type_.kind = SG_KIND_HOOK;
    type_.name = "t";
    auto instance = plugin::Instance::create(type_, name, config::Value::make_map(), event_services(*journal_));
    EXPECT_TRUE(instance) << instance.error().text;
    return {name, *instance, std::move(masks), limit_ns};
  }
  void append(EventKind kind, const std::string& path = "") {
    Event e;
    e.kind = kind;
    e.path = path;
    e.topic = "x";
    journal_->append(e);
  }
  void start(std::vector<Handler> handlers, ContentSource content = nullptr) {
    dispatcher_ = Dispatcher::start(*journal_, std::move(handlers), std::move(content));
  }
  DrainReport drain(int ms = 10'000) {
    EXPECT_TRUE(journal_->sync(10'000));
    return dispatcher_->drain(ms);
  }

  TempDir dir_;
  Script script_;
  plugin::Type type_;
  std::mutex log_mutex_;
  std::string log_;
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<Dispatcher> dispatcher_;
};

TEST_F(Dispatch, Masks_SelectEvents_InSeqOrder) {  // H1, H5
  start({handler("h", {SG_EV_FILES})});
  append(EventKind::ready);
  append(EventKind::file_create, "a");
  append(EventKind::file_delete, "b");
  EXPECT_EQ(drain().undelivered, 0u);
  EXPECT_EQ(script_.seen, (std::vector<std::string>{"0 a", "2 b"}));
}

TEST_F(Dispatch, TwoMasksOfOneHandler_DeliverTwice_OnFileFirst) {  // H5
  start({handler("h", {SG_EV_FILES, uint64_t{1} << SG_EV_FILE_CHANGE})});
  append(EventKind::file_change, "a");
  append(EventKind::file_create, "b");
  drain();
  EXPECT_EQ(script_.seen, (std::vector<std::string>{"1 a", "1 a", "0 b"}));
}

TEST_F(Dispatch, FailingHook_IsOneErrorLine_AndOthersGoOn) {  // H4, L3
  script_.act = [](const sg_host* host, sg_call* call, const sg_event*) {
    return host->fail(host, call, SG_E_FAILED, 0, {"", 0}, {"no luck", 7});
  };
  start({handler("bad", {SG_EV_FILES})});
  append(EventKind::file_create, "a");
  append(EventKind::file_create, "b");
  EXPECT_EQ(drain().undelivered, 0u);
  EXPECT_EQ(script_.seen.size(), 2u);
  EXPECT_NE(logged().find("errors: hook bad failed on event box-1/1: "), std::string::npos) << logged();
  EXPECT_NE(logged().find("no luck"), std::string::npos);
}

TEST_F(Dispatch, ThrowingHook_IsContained) {  // P7
  script_.act = [](const sg_host*, sg_call*, const sg_event*) -> sg_status { throw std::runtime_error("boom"); };
  start({handler("bad", {SG_EV_FILES})});
  append(EventKind::file_create, "a");
  EXPECT_EQ(drain().undelivered, 0u);
  EXPECT_NE(logged().find("boom"), std::string::npos) << logged();
}

TEST_F(Dispatch, SlowHandler_DelaysNoOther) {  // H5
  std::mutex gate;
  gate.lock();
  std::atomic<int> fast{0};
  script_.act = [&](const sg_host* host, sg_call*, const sg_event*) {
    if (std::string(host->name).empty()) return SG_OK;
    if (fast.fetch_add(1) == 0) {  // whoever comes first is the slow one
      gate.lock();
      gate.unlock();
    }
    return SG_OK;
  };
  start({handler("one", {SG_EV_FILES}), handler("two", {SG_EV_FILES})});
  append(EventKind::file_create, "a");
  append(EventKind::file_create, "b");
  EXPECT_TRUE(script_.wait_for(3));  // one of one handler, both of the other
  const DrainReport report = drain(50);
  EXPECT_EQ(report.late.size(), 1u);
  EXPECT_EQ(report.undelivered, 2u);
  gate.unlock();
  EXPECT_EQ(drain().undelivered, 0u);
}

TEST_F(Dispatch, LateHook_IsCancelled_AndGoesOn) {  // H5, C2
  script_.act = [](const sg_host* host, sg_call* call, const sg_event* event) {
    return event->seq == 1 ? host->wait(host, call, -1, 0, 60'000) : SG_OK;
  };
  start({handler("late", {SG_EV_FILES}, 50'000'000)});
  append(EventKind::file_create, "a");
  append(EventKind::file_create, "b");
  EXPECT_EQ(drain().undelivered, 0u);
  EXPECT_EQ(script_.seen.size(), 2u);
  EXPECT_NE(logged().find("hook late failed"), std::string::npos) << logged();
}

TEST_F(Dispatch, HangingHook_IsLeftBehind_OthersAndStopGoOn) {  // H5, P7
  auto release = std::make_shared<std::mutex>();
  release->lock();
  auto out = std::make_shared<std::atomic<bool>>(false);
  std::atomic<int> calls{0};
  script_.act = [&, release, out](const sg_host*, sg_call*, const sg_event*) {
    if (calls.fetch_add(1) != 0) return SG_OK;
    auto mine = release;
    auto done = out;
    mine->lock();  // deaf to cancellation
    mine->unlock();
    *done = true;
    return SG_OK;
  };
  start({handler("deaf", {SG_EV_FILES}, 50'000'000), handler("other", {SG_EV_FILES})});
  append(EventKind::file_create, "a");
  append(EventKind::file_create, "b");
  const DrainReport report = drain(5'000);
  EXPECT_EQ(report.late.size(), 1u);
  const int64_t before = mono_ns();
  dispatcher_->stop(2'000);
  EXPECT_LT(mono_ns() - before, 5'000'000'000);
  EXPECT_NE(logged().find("left behind"), std::string::npos) << logged();
  release->unlock();
  while (!*out) std::this_thread::yield();
}

TEST_F(Dispatch, Content_IsReadOnce_AndOnlyWhenAsked) {  // E1, B5
  std::atomic<int> reads{0};
  script_.act = [](const sg_host* host, sg_call* call, const sg_event* event) {
    if (event->seq == 1) return SG_OK;
    auto* events = static_cast<const sg_event_service*>(host->service(host, SG_SERVICE_EVENT));
    for (int i = 0; i < 3; i++) {
      sg_content content{};
      content.struct_size = sizeof content;
      events->content(host, call, event, SG_DIFF, &content);
      EXPECT_EQ(std::string(reinterpret_cast<const char*>(content.data.data), content.data.len), "patch of b");
      EXPECT_EQ(content.state, static_cast<uint32_t>(SG_CONTENT_HERE));
    }
    return SG_OK;
  };
  start({handler("h", {SG_EV_FILES})}, [&](const Event& event, git::Which which, bool) {
    reads++;
    EXPECT_EQ(which, git::Which::diff);
    git::Piece piece;
    piece.state = git::PieceState::here;
    piece.bytes = "patch of " + event.path;
    piece.full_size = piece.bytes.size();
    return piece;
  });
  append(EventKind::file_create, "a");
  append(EventKind::file_create, "b");
  drain();
  EXPECT_EQ(reads, 1);
}

TEST_F(Dispatch, KeptEvent_OutlivesItsCall) {
  const sg_event* kept = nullptr;
  script_.act = [&](const sg_host* host, sg_call*, const sg_event* event) {
    auto* events = static_cast<const sg_event_service*>(host->service(host, SG_SERVICE_EVENT));
    if (!kept) {
      events->retain(host, event);
      kept = event;
    } else {
      EXPECT_EQ(kept->seq, 1u);
      EXPECT_EQ(std::string(kept->id.data, kept->id.len), "box-1/1");
      events->release(host, kept);
    }
    return SG_OK;
  };
  start({handler("h", {SG_EV_FILES})});
  append(EventKind::file_create, "a");
  drain();
  append(EventKind::file_create, "b");
  drain();
  EXPECT_EQ(script_.seen.size(), 2u);
}

TEST_F(Dispatch, Emit_CustomEvent_IsJournaled_BadJsonIsNot) {
  script_.act = [](const sg_host* host, sg_call*, const sg_event* event) {
    auto* events = static_cast<const sg_event_service*>(host->service(host, SG_SERVICE_EVENT));
    auto str = [](std::string_view s) { return sg_str{s.data(), s.size()}; };
    EXPECT_EQ(events->emit(host, event->sandbox_id, str("acme.note"), str("{\"a\":1}")), SG_OK);
    EXPECT_EQ(events->emit(host, event->sandbox_id, str("acme.note"), str("{\"a\":")), SG_E_INVALID);
    return SG_OK;
  };
  start({handler("h", {SG_EV_FILES})});
  append(EventKind::file_create, "a");
  drain();
  auto events = read_journal(dir_ / "j.db", 0, 10);
  ASSERT_TRUE(journal_->sync(10'000));
  events = read_journal(dir_ / "j.db", 0, 10);
  ASSERT_EQ(events->size(), 2u);
  EXPECT_EQ((*events)[1].topic, "acme.note");
}

}  // namespace
}  // namespace sandglass
