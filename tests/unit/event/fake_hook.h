// A hook plugin of the test's own, behind a static sg_type as a loaded one would be, and a sandbox
// small enough for it: a journal and a dispatcher.
#pragma once

#include <sandglass/plugin.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "event/dispatch.h"
#include "unit/event/support.h"

namespace sandglass::testing {

inline std::string text_of(sg_str s) {
  return s.len ? std::string(s.data, s.len) : "";
}
inline std::string text_of(sg_bytes s) {
  return s.len ? std::string(reinterpret_cast<const char*>(s.data), s.len) : "";
}
inline sg_str str(std::string_view s) {
  return {s.data(), s.size()};
}

// A door that stands closed until a test opens it.
class Gate {
 public:
  void open() {
    std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  bool pass() {
    std::unique_lock lock(mutex_);
    reached_ = true;
    changed_.notify_all();
    return changed_.wait_for(lock, std::chrono::seconds(30), [&] { return open_; });
  }
  // Waits until somebody stands before it.
  bool wait_reached() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(30), [&] { return reached_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false, reached_ = false;
};

// What one instance does and saw. Set the functions before make(); make it a shared_ptr that
// outlives a thread left behind.
struct FakeHook {
  using OnEvent = std::function<sg_status(const sg_host*, sg_call*, const sg_event*)>;
  using OnBatch =
      std::function<sg_status(const sg_host*, sg_call*, const sg_event* const*, size_t, size_t*)>;
  uint64_t interests = SG_EV_ALL;
  OnEvent on_event;                                          // null: says SG_OK
  OnBatch on_batch;                                          // null: not offered
  std::function<sg_status(const sg_host*, sg_call*)> flush;  // null: not offered

  const sg_host* host = nullptr;
  std::atomic<int> interests_asked{0}, destroyed{0};

  std::vector<std::string> seen() {  // "<type> <relative>" of each event that came by on_event
    std::lock_guard lock(mutex_);
    return seen_;
  }
  bool wait_seen(size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), [&] { return seen_.size() >= count; });
  }
  void note(const sg_event* event) {
    std::lock_guard lock(mutex_);
    seen_.push_back(std::string(name_of(static_cast<EventKind>(event->kind))) + " " +
                    text_of(event->relative));
    changed_.notify_all();
  }

  Result<std::shared_ptr<plugin::Instance>> make(const std::string& name, Journal& journal);

 private:
  static FakeHook& of(void* self) { return *static_cast<FakeHook*>(self); }
  static inline FakeHook* next_ = nullptr;  // whose create() runs

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> seen_;
  sg_hook methods_{};
  sg_type abi_{};
  plugin::Type type_;
};

inline Result<std::shared_ptr<plugin::Instance>> FakeHook::make(const std::string& name,
                                                                Journal& journal) {
  methods_.struct_size = sizeof(sg_hook);
  methods_.interests = [](void* self) {
    of(self).interests_asked++;
    return of(self).interests;
  };
  methods_.on_event = [](void* self, sg_call* call, const sg_event* event) -> sg_status {
    FakeHook& me = of(self);
    me.note(event);
    return me.on_event ? me.on_event(me.host, call, event) : SG_OK;
  };
  if (on_batch)
    methods_.on_batch = [](void* self, sg_call* call, const sg_event* const* events, size_t count,
                           size_t* accepted) {
      return of(self).on_batch(of(self).host, call, events, count, accepted);
    };
  if (flush)
    methods_.flush = [](void* self, sg_call* call) { return of(self).flush(of(self).host, call); };
  abi_.struct_size = sizeof(sg_type);
  abi_.kind = SG_KIND_HOOK;
  abi_.name = "fake";
  abi_.summary = "";
  abi_.methods = &methods_;
  abi_.create = [](const sg_host* given, sg_call*, const sg_config*, void** self) -> sg_status {
    next_->host = given;
    *self = next_;
    return SG_OK;
  };
  abi_.destroy = [](void* self) { of(self).destroyed++; };
  type_.abi = &abi_;
  type_.kind = SG_KIND_HOOK;
  type_.name = "fake";
  next_ = this;
  return plugin::Instance::create(type_, name, config::Value::make_map(), event_services(journal));
}

constexpr uint64_t bit(uint32_t kind) {
  return uint64_t{1} << kind;
}
constexpr int64_t kMs = 1'000'000;

class DispatchTest : public ::testing::Test {
 protected:
  ~DispatchTest() override {
    handlers_.clear();
    if (dispatcher_) dispatcher_->stop(10'000);
  }
  // Hooks live to the end of the program: a thread left behind may come back to one.
  FakeHook& hook() {
    static auto* all = new std::deque<FakeHook>;
    return all->emplace_back();
  }
  void add(FakeHook& fake, const std::string& name, std::vector<uint64_t> masks = {SG_EV_FILES},
           int64_t limit_ns = 10'000 * kMs) {
    auto instance = fake.make(name, *journal_);
    ASSERT_TRUE(instance) << instance.error().text;
    handlers_.push_back({name, *instance, std::move(masks), limit_ns});
  }
  void start(ContentSource content = nullptr) {
    dispatcher_ = Dispatcher::start(*journal_, std::exchange(handlers_, {}), std::move(content));
  }
  void append(const std::string& path, EventKind kind = EventKind::file_change) {
    journal_->append(file_event(path, kind));
  }
  DrainReport drain(int ms = 20'000) {
    EXPECT_TRUE(journal_->sync(20'000));
    return dispatcher_->drain(ms);
  }

  TempDir dir_;
  Logged logged_;
  std::unique_ptr<Journal> journal_ = open_journal(dir_ / "j.db");
  std::vector<Handler> handlers_;
  std::unique_ptr<Dispatcher> dispatcher_;
};

}  // namespace sandglass::testing
