#include "event/lane.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"

namespace sandglass {
namespace {

constexpr size_t kBatch = 64;
constexpr int kSingles = 64;                 // after a batch whose content did not fit
constexpr int64_t kGraceNs = 1'000'000'000;  // from cancelling a late call to giving it up
constexpr int64_t kLongestNs = 86'400'000'000'000;
constexpr size_t kUntouched = SIZE_MAX;
constexpr int64_t kKeepEveryNs = 100'000'000;  // at most, of a place while events come
constexpr int64_t kStuckNs = 2'000'000'000;    // a drain does not wait for it any more
constexpr const char* kFlush = "flush()";
constexpr const char* kAside = "sandbox.hook.aside";
constexpr std::string_view kDebug = "sandbox";

std::chrono::nanoseconds until(int64_t end_ns) {
  return std::chrono::nanoseconds(std::max<int64_t>(end_ns - mono_ns(), 0));
}

uint64_t bit_of(const Event& event) {
  const auto kind = static_cast<uint32_t>(event.kind);
  return kind < 64 ? uint64_t{1} << kind : 0;
}

std::string seconds(int64_t ns) {
  const int64_t ms = ns / 1'000'000;
  return ms % 1000 == 0 ? std::to_string(ms / 1000) + " s" : std::to_string(ms) + " ms";
}

// "event box-1/41 (create src/a.c)", or what was called.
std::string title(const char* what, const sg_event* event) {
  if (!event) return what;
  const Event& e = DeliveredEvent::of(event).event();
  std::string out = "event " + std::string(event->id.data, event->id.len) + " (";
  out += name_of(e.kind);
  if (!e.path.empty()) out += " " + shown(e.path);
  return out + ")";
}

// Events on their way, oldest first. One that matches several masks is one object, seen several
// times in a row. It is let go, with the content it holds, as soon as it is done with.
class Due {
 public:
  ~Due() { drop(views_.size() - at_); }
  void add(DeliveredEvent* event, size_t times) { views_.insert(views_.end(), times, event); }
  std::span<const sg_event* const> left() const { return std::span(views_).subspan(at_); }
  void drop(size_t count) {
    for (const size_t end = at_ + count; at_ < end; at_++)
      if (at_ + 1 == views_.size() || views_[at_ + 1] != views_[at_])
        DeliveredEvent::of(views_[at_]).release();
  }

 private:
  std::vector<const sg_event*> views_;
  size_t at_ = 0;
};

}  // namespace

static Patience patience_of(const Handler& handler, const Journal& journal) {
  const Places places = journal.places();
  const auto known = places.find(handler.name);
  if (!handler.durable || known == places.end()) return {0, 0};
  return {known->second.stuck_seq, known->second.since_ns};
}

Lane::Lane(Handler handler, Journal& journal, uint64_t after, ContentSource content)
    : handler_(std::move(handler)),
      journal_(journal),
      origin_(journal.origin()),
      hook_(handler_.instance->methods<sg_hook>()),
      cursor_(journal.subscribe(after)),
      desk_(std::make_shared<ContentDesk>(std::move(content))),
      done_(after),
      patience_(patience_of(handler_, journal)) {}

void Lane::start(std::function<void(int64_t)> expect) {
  expect_ = std::move(expect);
  thread_ = std::thread([self = shared_from_this()] { self->run(); });
  ::pthread_setname_np(thread_.native_handle(), "sg-hook");
}

bool Lane::wants(const Event& event) const {
  return (bit_of(event) & interests_) && matches(event) > 0;
}

size_t Lane::matches(const Event& event) const {
  const uint64_t bit = bit_of(event);
  return static_cast<size_t>(std::count_if(handler_.masks.begin(), handler_.masks.end(),
                                           [bit](uint64_t mask) { return (mask & bit) != 0; }));
}

bool Lane::wait_done(uint64_t seq, int64_t end_ns) {
  std::unique_lock lock(mutex_);
  drains_++;
  auto no_use = [&] {
    return left_behind_ || ended_ || (stuck_at_ && mono_ns() >= stuck_at_ + kStuckNs);
  };
  for (int64_t now; done() < seq && !no_use() && (now = mono_ns()) < end_ns;)
    progress_.wait_for(lock, until(stuck_at_ ? std::min(end_ns, stuck_at_ + kStuckNs) : end_ns));
  drains_--;
  return done() >= seq;
}

bool Lane::given_up() {
  std::lock_guard lock(mutex_);
  return left_behind_ || handler_.instance->quarantined();
}

int64_t Lane::look(int64_t now_ns) {
  std::lock_guard lock(mutex_);
  if (!call_ || left_behind_) return Watchdog::kNever;
  if (now_ns < cancel_at_) return cancel_at_;
  call_->cancel();
  if (now_ns < give_up_at_) return give_up_at_;
  leave_behind("does not return from " + title(call_what_, call_event_) +
               " though it was cancelled");
  return Watchdog::kNever;
}

void Lane::leave_behind(const std::string& why) {
  log::error("hook " + shown(name()) + " " + why +
             ": its thread is left behind, and it gets no more events; restart sandglass to use it "
             "again");
  left_behind_ = true;
  over_ = true;
  desk_->close();
  handler_.instance->abandon();
  progress_.notify_all();
}

void Lane::ask_to_stop(int64_t end_ns) {
  std::lock_guard lock(mutex_);
  over_ = true;
  stop_end_ = end_ns;
  if (call_) {
    call_->cancel();
    cancel_at_ = 0;
    give_up_at_ = std::min(give_up_at_, end_ns);
    expect_(give_up_at_);
  }
  progress_.notify_all();
  cursor_->wake();
}

void Lane::end(int64_t end_ns) {
  std::unique_lock lock(mutex_);
  progress_.wait_for(lock, until(end_ns), [&] { return ended_ || left_behind_; });
  if (!ended_ && !left_behind_) leave_behind("does not stop");
  const bool join = ended_;
  lock.unlock();
  if (!thread_.joinable()) return;
  if (join)
    thread_.join();
  else
    thread_.detach();
}

void Lane::run() {
  ask_interests();
  while (!over()) {
    const auto events = cursor_->next(kBatch, -1);
    if (!events.empty()) deliver(events);
  }
  keep_place();
  flush();
  std::lock_guard lock(mutex_);
  ended_ = true;
  desk_->close();
  progress_.notify_all();
}

void Lane::ask_interests() {
  if (!hook_.interests) return;
  uint64_t asked = SG_EV_ALL;
  const Outcome outcome = call("interests()", nullptr, [&](void* self, sg_call*) {
    asked = hook_.interests(self);
    return SG_OK;
  });
  if (!outcome.status) return say_failed("interests()", nullptr, outcome);
  interests_ = asked & SG_EV_ALL;
}

void Lane::deliver(const std::vector<EventPtr>& events) {
  Due due;
  for (const EventPtr& event : events)
    if (wants(*event)) due.add(DeliveredEvent::make(origin_, event, desk_), matches(*event));
  while (!due.left().empty()) {
    const size_t most = singles_ > 0 ? 1 : kBatch;
    const size_t taken = offer(due.left().first(std::min(due.left().size(), most)));
    due.drop(taken);
    if (!due.left().empty()) advance(due.left().front()->seq - 1);
    if (over()) return;
    singles_ = desk_->was_tight() ? kSingles : std::max(singles_ - 1, 0);
    if (taken == 0) wait_to_retry();
  }
  advance(events.back()->seq);
}

void Lane::advance(uint64_t done) {
  if (done <= done_) return;
  done_ = done;
  if (durable() && mono_ns() - kept_at_ >= kKeepEveryNs) keep_place();
  if (drains_ == 0) return;
  std::lock_guard lock(mutex_);
  progress_.notify_all();
}

void Lane::keep_place() {
  if (!durable()) return;
  std::lock_guard lock(mutex_);
  if (left_behind_) return;
  kept_at_ = mono_ns();
  uint64_t kinds = 0;
  for (uint64_t mask : handler_.masks) kinds |= mask;
  journal_.keep_place(handler_.name,
                      {done_, kinds & interests_, patience_.stuck_seq(), patience_.since_ns()});
}

size_t Lane::offer(Views views) {
  say_offered(hook_.on_batch && singles_ == 0 ? views : views.first(1));
  if (hook_.on_batch && singles_ == 0) return offer_batch(views);
  return offer_one(views.front());
}

size_t Lane::offer_one(const sg_event* event) {
  const Outcome outcome = call("an event", event, [&](void* self, sg_call* call) {
    return hook_.on_event(self, call, event);
  });
  if (!outcome.status) return after_failure("an event", event, outcome);
  end_of_refusals(event);
  return 1;
}

size_t Lane::offer_batch(Views views) {
  size_t accepted = kUntouched;
  const Outcome outcome = call("a batch", views.front(), [&](void* self, sg_call* call) {
    return hook_.on_batch(self, call, views.data(), views.size(), &accepted);
  });
  if (accepted == kUntouched) accepted = outcome.status ? views.size() : 0;
  accepted = std::min(accepted, views.size());
  if (accepted > 0) end_of_refusals(views.front());
  if (!outcome.status) {  // the one it stopped at is lost to it, what follows is not
    if (accepted == views.size()) accepted--;
    return accepted + after_failure("a batch", views[accepted], outcome);
  }
  if (accepted > 0) return accepted;
  return offer_one(views.front());  // it took none and said all is well: that would never end
}

size_t Lane::after_failure(const char* what, const sg_event* event, const Outcome& outcome) {
  const bool over = outcome.stopping || handler_.instance->quarantined();
  if (!durable() || over) {
    say_failed(what, event, outcome);
    return over ? 0 : 1;
  }
  const std::string& words = outcome.status.error().text;
  if (outcome.fail_flags & SG_FAIL_FINAL) return set_aside(event, words), 1;
  const bool first = patience_.stuck_seq() != event->seq || patience_.attempts() == 0;
  const auto wait = patience_.refused(event->seq, wall_ns());
  if (!wait) return set_aside(event, "refused for a day, at last: " + words), 1;
  if (first)
    say_failed(what, event, outcome, "; it gets this event again until it takes it");
  else
    log::debug(kDebug,
               "hook " + shown(name()) + " refused " + title(what, event) + " again: " + words);
  DeliveredEvent::of(event).mark_replay();
  {
    std::lock_guard lock(mutex_);
    retry_at_ = mono_ns() + *wait;
    if (stuck_at_ == 0) stuck_at_ = mono_ns();
    progress_.notify_all();
  }
  if (first) keep_place();
  return 0;
}

void Lane::end_of_refusals(const sg_event* event) {
  if (patience_.stuck_seq() == 0) return;
  if (patience_.stuck_seq() == event->seq && patience_.attempts() > 0)
    log::info("hook " + shown(name()) + " has taken " + title("an event", event) + " after " +
              std::to_string(patience_.attempts()) + " refusals");
  patience_.taken();
  std::lock_guard lock(mutex_);
  retry_at_ = stuck_at_ = 0;
}

// The only way past a durable handler: said in the journal and in the log.
void Lane::set_aside(const sg_event* event, const std::string& why) {
  log::error("hook " + shown(name()) + " will not get " + title("an event", event) +
             ", it is set aside: " + why);
  const Event& refused = DeliveredEvent::of(event).event();
  patience_.taken();
  std::lock_guard lock(mutex_);
  retry_at_ = stuck_at_ = 0;
  if (left_behind_ || refused.topic == kAside) return;  // never a record about a record
  JsonWriter w;
  w.open('{').key("hook").value(name()).key("event").value(refused.seq).key("reason").value(why);
  Event record;
  record.kind = EventKind::custom;
  record.time_ns = wall_ns();
  record.topic = kAside;
  record.json = w.close('}').take();
  record.actor.kind = ActorKind::host;
  journal_.append(std::move(record));
}

void Lane::wait_to_retry() {
  std::unique_lock lock(mutex_);
  while (!over() && mono_ns() < retry_at_) progress_.wait_for(lock, until(retry_at_));
}

void Lane::flush() {
  if (!hook_.flush) return;
  const Outcome outcome =
      call(kFlush, nullptr, [&](void* self, sg_call* call) { return hook_.flush(self, call); });
  if (!outcome.status) say_failed(kFlush, nullptr, outcome);
}

bool Lane::set_limits(bool is_flush) {
  if (left_behind_ || (stop_end_ != 0 && !is_flush)) return false;
  const int64_t now = mono_ns();
  cancel_at_ = now + std::clamp<int64_t>(handler_.time_limit_ns, 1, kLongestNs);
  give_up_at_ = cancel_at_ + kGraceNs;
  if (stop_end_ != 0) {
    const int64_t grace = std::clamp<int64_t>((stop_end_ - now) / 4, 0, kGraceNs);
    cancel_at_ = std::min(cancel_at_, stop_end_ - grace);
    give_up_at_ = std::min(give_up_at_, stop_end_);
  }
  return true;
}

Lane::Outcome Lane::call(const char* what, const sg_event* event, const Entry& entry) {
  std::unique_lock lock(mutex_);
  if (!set_limits(what == kFlush)) return {fail(Fault::cancelled, "stopping"), 0, false, true};
  const int64_t limit = cancel_at_;
  plugin::Call call({origin_.sandbox_id, limit, nullptr});
  call_ = &call;
  call_what_ = what;
  call_event_ = event;
  expect_(limit);
  lock.unlock();
  Status status =
      handler_.instance->call(call, [&](void* self) { return entry(self, call.abi()); });
  lock.lock();
  call_ = nullptr;
  if (handler_.instance->quarantined()) over_ = true;  // the failure of this call says why
  return {std::move(status), call.fail_flags(), mono_ns() >= limit, stop_end_ != 0};
}

void Lane::say_offered(Views views) const {
  if (!log::enabled(log::Level::debug, kDebug)) return;
  for (const sg_event* event : views)
    log::debug(kDebug, "hook " + shown(name()) + " gets " + title("", event));
}

void Lane::say_failed(const char* what, const sg_event* event, const Outcome& outcome,
                      const char* and_then) const {
  const std::string on = title(what, event);
  const std::string& words = outcome.status.error().text;
  if (outcome.overstayed)
    return log::error("hook " + shown(name()) + " was stopped on " + on + " at its time limit of " +
                      seconds(handler_.time_limit_ns) + ": " + words + and_then);
  const std::string text = "hook " + shown(name()) + " failed on " + on + ": " + words + and_then;
  if (outcome.stopping || (outcome.fail_flags & SG_FAIL_QUIET))
    log::debug(kDebug, text);
  else
    log::error(text);
}

}  // namespace sandglass
