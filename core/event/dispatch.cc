#include "event/dispatch.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "event/delivery.h"

namespace sandglass {
namespace {

constexpr size_t kBatch = 64;
constexpr int64_t kGraceNs = 1'000'000'000;  // from the cancellation of a late call to giving it up
constexpr size_t kCustomCap = 1 << 20;       // bytes of one custom event

// One handler's thread. Shared between that thread and the dispatcher, so that a thread stuck in a
// plugin can be left behind.
class Lane : public std::enable_shared_from_this<Lane> {
 public:
  Lane(Journal& journal, Handler handler, ContentSource content)
      : origin_(journal.origin()), handler_(std::move(handler)), content_(std::move(content)),
        hook_(handler_.instance->methods<sg_hook>()), cursor_(journal.subscribe(journal.last_seq())),
        done_(cursor_->position()) {
    interests_ = hook_.interests ? hook_.interests(handler_.instance->self()) : SG_EV_ALL;
  }

  void start() {
    thread_ = std::thread([self = shared_from_this()] { self->loop(); });
    ::pthread_setname_np(thread_.native_handle(), "sg-hook");
  }
  const std::string& name() const { return handler_.name; }
  uint64_t done() const {
    std::lock_guard lock(mutex_);
    return done_;
  }
  bool quarantined() const {
    std::lock_guard lock(mutex_);
    return quarantined_;
  }
  // False on the time limit or when the handler is quarantined.
  bool wait_done(uint64_t seq, int64_t end_ns) {
    std::unique_lock lock(mutex_);
    const auto limit = std::chrono::nanoseconds(std::max<int64_t>(end_ns - mono_ns(), 0));
    progress_.wait_for(lock, limit, [&] { return done_ >= seq || quarantined_; });
    return done_ >= seq;
  }
  // The dispatcher's watchdog: cancels a call past its limit, gives it up after the grace.
  // Returns when to look again, or INT64_MAX.
  int64_t watch() {
    std::unique_lock lock(mutex_);
    if (!call_ || quarantined_) return INT64_MAX;
    const int64_t now = mono_ns(), limit = call_since_ + handler_.time_limit_ns;
    if (now < limit) return limit;
    call_->cancel();
    if (now < limit + kGraceNs) return limit + kGraceNs;
    quarantined_ = true;
    handler_.instance->abandon();
    progress_.notify_all();
    lock.unlock();
    log::error("hook " + shown(handler_.name) + " does not return: it is left behind and gets no more events");
    return INT64_MAX;
  }
  void ask_to_stop() {
    stopping_ = true;
    cursor_->wake();
  }
  void cancel() {
    std::lock_guard lock(mutex_);
    if (call_) call_->cancel();
  }
  // Joins, or leaves the thread behind.
  void end(int64_t end_ns) {
    std::unique_lock lock(mutex_);
    const auto limit = std::chrono::nanoseconds(std::max<int64_t>(end_ns - mono_ns(), 0));
    const bool over = progress_.wait_for(lock, limit, [&] { return ended_; });
    if (!over && !quarantined_) {
      quarantined_ = true;
      handler_.instance->abandon();
      log::error("hook " + shown(handler_.name) + " does not stop: it is left behind");
    }
    lock.unlock();
    if (!thread_.joinable()) return;
    if (over)
      thread_.join();
    else
      thread_.detach();
  }

 private:
  struct Due {
    Delivery* delivery;
    uint64_t seq;
  };

  void loop() {
    while (!stopping_ && !quarantined()) {
      const auto events = cursor_->next(kBatch, -1);
      if (events.empty()) continue;
      deliver(events);
      std::lock_guard lock(mutex_);
      if (!quarantined_) done_ = cursor_->position();
      progress_.notify_all();
    }
    if (hook_.flush && !quarantined()) call("flush", nullptr, [&](void* self, sg_call* c) { return hook_.flush(self, c); });
    std::lock_guard lock(mutex_);
    ended_ = true;
    progress_.notify_all();
  }

  void deliver(const std::vector<EventPtr>& events) {
    std::vector<Due> due;
    for (const EventPtr& event : events) {
      const uint64_t bit = uint64_t{1} << static_cast<uint32_t>(event->kind);
      if (!(bit & interests_)) continue;
      for (uint64_t mask : handler_.masks)
        if (mask & bit) due.push_back({Delivery::make(origin_, event, content_), event->seq});
    }
    if (hook_.on_batch && due.size() > 1)
      deliver_batch(due);
    else
      for (const Due& one : due) deliver_one(one);
    for (const Due& one : due) one.delivery->release();
  }

  void deliver_one(const Due& due) {
    if (quarantined()) return;
    call("event", &due, [&](void* self, sg_call* c) { return hook_.on_event(self, c, due.delivery->abi()); });
  }

  // What a batch call did not accept is delivered one by one, so that one bad event costs no other.
  void deliver_batch(const std::vector<Due>& due) {
    std::vector<const sg_event*> views;
    for (const Due& one : due) views.push_back(one.delivery->abi());
    size_t accepted = 0;
    const bool ok = call("batch", nullptr, [&](void* self, sg_call* c) {
      return hook_.on_batch(self, c, views.data(), views.size(), &accepted);
    });
    if (ok) return;
    for (size_t i = std::min(accepted + 1, due.size()); i < due.size(); i++) deliver_one(due[i]);
  }

  bool call(const char* what, const Due* due, const std::function<sg_status(void*, sg_call*)>& fn) {
    plugin::Call call({origin_.sandbox_id, mono_ns() + handler_.time_limit_ns, nullptr});
    {
      std::lock_guard lock(mutex_);
      call_ = &call;
      call_since_ = mono_ns();
    }
    const Status done = handler_.instance->call(call, [&](void* self) { return fn(self, call.abi()); });
    {
      std::lock_guard lock(mutex_);
      call_ = nullptr;
    }
    if (done || (call.fail_flags() & SG_FAIL_QUIET)) return done.has_value();
    log::error("hook " + shown(handler_.name) + " failed on " +
               (due ? "event " + origin_.sandbox_id + "/" + std::to_string(due->seq) : std::string("a ") + what) + ": " +
               done.error().text);
    return false;
  }

  const Origin origin_;
  Handler handler_;
  ContentSource content_;
  sg_hook hook_;
  uint64_t interests_ = 0;
  std::unique_ptr<Cursor> cursor_;
  std::atomic<bool> stopping_{false};
  mutable std::mutex mutex_;  // all below
  std::condition_variable progress_;
  uint64_t done_;
  plugin::Call* call_ = nullptr;
  int64_t call_since_ = 0;
  bool quarantined_ = false, ended_ = false;
  std::thread thread_;
};

class LaneDispatcher : public Dispatcher {
 public:
  LaneDispatcher(Journal& journal, std::vector<Handler> handlers, const ContentSource& content) : journal_(journal) {
    int64_t shortest = INT64_MAX;
    for (Handler& handler : handlers) {
      shortest = std::min(shortest, handler.time_limit_ns);
      lanes_.push_back(std::make_shared<Lane>(journal, std::move(handler), content));
    }
    for (const auto& lane : lanes_) lane->start();
    // Often enough to be fair to the shortest limit, seldom enough to cost nothing.
    step_ms_ = static_cast<int>(std::clamp<int64_t>(shortest / 4'000'000, 5, 2'500));
    if (!lanes_.empty()) watchdog_ = std::thread([this] { watch(); });
  }
  ~LaneDispatcher() override { stop(10'000); }

  DrainReport drain(int timeout_ms) override {
    const int64_t end = mono_ns() + int64_t{timeout_ms} * 1'000'000;
    const uint64_t wanted = journal_.last_seq();
    DrainReport report;
    for (const auto& lane : lanes_) {
      if (lane->wait_done(wanted, end)) continue;
      report.undelivered = std::max(report.undelivered, wanted - std::min(lane->done(), wanted));
      report.late.push_back(lane->name());
    }
    return report;
  }

  void stop(int timeout_ms) override {
    if (stopped_) return;
    stopped_ = true;
    const int64_t end = mono_ns() + int64_t{timeout_ms} * 1'000'000;
    for (const auto& lane : lanes_) lane->ask_to_stop();
    for (const auto& lane : lanes_) lane->cancel();
    for (const auto& lane : lanes_) lane->end(lane->quarantined() ? mono_ns() : end);
    {
      std::lock_guard lock(mutex_);
      over_ = true;
      wake_.notify_all();
    }
    if (watchdog_.joinable()) watchdog_.join();
  }

 private:
  void watch() {
    std::unique_lock lock(mutex_);
    while (!over_) {
      wake_.wait_for(lock, std::chrono::milliseconds(step_ms_), [&] { return over_; });
      lock.unlock();
      for (const auto& lane : lanes_) lane->watch();
      lock.lock();
    }
  }

  Journal& journal_;
  std::vector<std::shared_ptr<Lane>> lanes_;
  int step_ms_ = 500;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool over_ = false, stopped_ = false;
  std::thread watchdog_;
};

sg_status emit(Journal& journal, std::string_view topic, std::string_view json) {
  if (topic.empty() || topic.size() > 200 || !is_utf8(topic) || json.size() > kCustomCap) return SG_E_INVALID;
  if (!nlohmann::json::accept(json)) return SG_E_INVALID;
  Event event;
  event.kind = EventKind::custom;
  event.time_ns = wall_ns();
  event.topic = topic;
  event.json = json;
  event.actor.kind = ActorKind::hook;
  journal.append(std::move(event));
  return SG_OK;
}

}  // namespace

std::unique_ptr<Dispatcher> Dispatcher::start(Journal& journal, std::vector<Handler> handlers, ContentSource content) {
  return std::make_unique<LaneDispatcher>(journal, std::move(handlers), content);
}

plugin::HostServices event_services(Journal& journal) {
  plugin::HostServices services;
  services.content = [](sg_call*, const sg_event* event, uint32_t which, sg_content* out) {
    Delivery::of(event)->content(which, out);
  };
  services.stream = [](sg_call*, const sg_event* event, uint32_t which, sg_out* out) {
    sg_content content{};
    content.struct_size = sizeof content;
    Delivery::of(event)->content(which, &content);
    return out->append(out, content.data.data, content.data.len);
  };
  services.retain = [](const sg_event* event) { Delivery::of(event)->retain(); };
  services.release = [](const sg_event* event) { Delivery::of(event)->release(); };
  services.emit = [&journal](std::string_view, std::string_view topic, std::string_view json) {
    return emit(journal, topic, json);
  };
  return services;
}

}  // namespace sandglass
