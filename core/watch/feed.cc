#include "watch/feed.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"

namespace sandglass::watch {

constexpr int64_t kBacklogCheckNs = 20'000'000;
constexpr int64_t kPollRest = 4;  // a poll rests at least so many times as long as it took

static std::chrono::steady_clock::time_point at(int64_t mono) {
  return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(mono));
}

struct Feed::Calls {
  static Feed& feed(sg_watch_sink* sink) { return *static_cast<Abi*>(sink)->feed; }

  // Nothing may unwind into the watcher.
  template <class F>
  static sg_status guarded(F&& body) {
    try {
      return body();
    } catch (const std::exception& e) {
      log::error(std::string("watching: ") + e.what());
      return SG_E_FAILED;
    }
  }
  static void ready(sg_watch_sink* sink) {
    guarded([&] { return feed(sink).on_ready(), SG_OK; });
  }
  static sg_status hints(sg_watch_sink* sink, const sg_hint* const* hints, size_t count) {
    return guarded([&] { return feed(sink).on_hints(hints, count); });
  }
  static sg_status listing(sg_watch_sink* sink, sg_bytes dir, const sg_entry* const* entries,
                           size_t count, uint32_t complete) {
    const sg_listing one{sizeof(sg_listing), complete, dir, entries, count};
    const sg_listing* const list[] = {&one};
    return listings(sink, list, 1);
  }
  static sg_status listings(sg_watch_sink* sink, const sg_listing* const* all, size_t count) {
    return guarded([&] { return feed(sink).on_listings(all, count); });
  }
  static void state(sg_watch_sink* sink, sg_str json) {
    guarded([&] { return feed(sink).on_state(json), SG_OK; });
  }
};

Feed::Feed(const Target& target, Sink sink, bool lists)
    : sink_(std::move(sink)),
      interval_ns_(int64_t{std::max(target.interval_ms, 1)} * 1'000'000),
      judge_(lists ? std::string() : target.local_root, target.ignore) {
  abi_.struct_size = sizeof(sg_watch_sink);
  abi_.reserved = 0;
  abi_.ready = Calls::ready;
  abi_.hints = Calls::hints;
  abi_.listing = Calls::listing;
  abi_.state = Calls::state;
  abi_.listings = Calls::listings;
  abi_.feed = this;
  thread_ = std::thread([this] { work(); });
  ::pthread_setname_np(thread_.native_handle(), "sg-watch");
}

Feed::~Feed() {
  close();
}

void Feed::close() {
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
    live_ = false;
  }
  work_.notify_all();
  told_.notify_all();
  if (thread_.joinable()) thread_.join();
}

// ---- What the watcher tells -------------------------------------------------

void Feed::on_ready() {
  std::lock_guard lock(mutex_);
  if (ready_ || closed_) return;
  if (auto begun = judge_.begin(); !begun) {
    end_ = begun;
    ended_ = true;
  }
  ready_ = true;
  told_.notify_all();
}

// A path that names something below the root, component by component.
static bool well_formed(std::string_view path) {
  if (path.empty()) return true;
  for (size_t at = 0;;) {
    const size_t end = std::min(path.find('/', at), path.size());
    const std::string_view name = path.substr(at, end - at);
    if (name.empty() || name == "." || name == "..") return false;
    if (end == path.size()) return path.find('\0') == std::string_view::npos;
    at = end + 1;
  }
}

static std::string_view view(sg_bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data), bytes.len};
}

static bool logs() {
  return log::enabled(log::Level::debug, "watch");
}

static void say_hint(const sg_hint& hint) {
  static constexpr std::array kWords{"look at", "look below", "hints were lost", "created",
                                     "changed", "deleted",    "blind at",        "seeing"};
  const char* word = hint.kind < kWords.size() ? kWords[hint.kind] : "unknown hint for";
  log::debug("watch", std::string("hint: ") + word + " " + shown(view(hint.path)));
}

static void say_judged(const FileChange& change) {
  static constexpr std::array kWords{"create", "change", "delete", "rescan"};
  log::debug("watch", std::string("judged: ") + kWords[static_cast<size_t>(change.kind)] + " " +
                          shown(change.path));
}

// Hints that are no place to look at. True when it was one of them.
bool Feed::special(const sg_hint& hint, std::string_view path, bool& lost) {
  switch (hint.kind) {
    case SG_HINT_LOST:
      lost = true;
      return true;
    case SG_HINT_BLIND:
      if (judge_.looks()) blind_.emplace(path, true);
      poll_at_ = std::min(poll_at_, mono_ns() + interval_ns_);
      return true;
    case SG_HINT_SEEING:
      see_again(path);
      return true;
    default:
      return false;
  }
}

sg_status Feed::on_hints(const sg_hint* const* hints, size_t count) {
  std::lock_guard lock(mutex_);
  if (closed_) return SG_E_CANCELLED;
  bool lost = false;
  const bool tell = logs();
  hints_.clear();
  for (size_t i = 0; i < count; ++i) {
    const sg_hint& hint = *hints[i];
    const std::string_view path = view(hint.path);
    if (tell) say_hint(hint);
    if (!well_formed(path) || special(hint, path, lost)) continue;
    met(path);
    hints_.push_back({hint.kind, hint.flags, hint.pid, static_cast<int64_t>(hint.seen_ns), path});
  }
  if (!ready_) return SG_OK;  // the first look is still to come and sees it all
  if (behind()) return owe(), wake_if_earlier(), SG_OK;
  if (lost) rescan();
  if (!hints_.empty() && (!lost || !judge_.looks())) deliver(judge_.hints(hints_));
  wake_if_earlier();
  return SG_OK;
}

static bool read_entry(const sg_entry& from, Entry& to) {
  if (from.struct_size < offsetof(sg_entry, name) + sizeof from.name) return false;
  to.name = view(from.name);
  if (to.name.size() > 255 || to.name.find('/') != std::string_view::npos) return false;
  if (to.name.empty() || !well_formed(to.name)) return false;
  const bool known = from.type == 'f' || from.type == 'd' || from.type == 'l';
  to.seen.type = known ? static_cast<Type>(from.type) : Type::other;
  to.seen.mode = static_cast<uint16_t>(from.mode & 07777);
  to.seen.size = from.size;
  to.seen.inode = from.inode;
  to.seen.mtime_ns = from.mtime_ns;
  to.seen.ctime_ns = from.ctime_ns;
  return true;
}

void Feed::met(std::string_view path) {
  if (expected_.empty() || path != expected_) return;
  expected_came_ = true;
  told_.notify_all();
}

// A tree that we can see is compared once the consumer has caught up, and listings come again; a
// fact does not.
void Feed::owe() {
  if (judge_.looks()) return;
  for (const Hint& hint : hints_) owed_.emplace_back(hint.path);
}

sg_status Feed::on_listings(const sg_listing* const* listings, size_t count) {
  std::vector<std::vector<Entry>> entries(count);
  std::vector<Listing> read;
  read.reserve(count);
  std::lock_guard lock(mutex_);
  if (closed_) return SG_E_CANCELLED;
  for (size_t i = 0; i < count; ++i) {
    const sg_listing& one = *listings[i];
    Listing to{view(one.directory), {}, one.complete != 0};
    if (!well_formed(to.dir)) return SG_E_INVALID;
    entries[i].reserve(one.count);
    for (size_t k = 0; k < one.count; ++k) {
      Entry entry;
      if (!read_entry(*one.entries[k], entry)) {
        to.complete = false;  // something is there that we could not understand
        continue;
      }
      if (to.dir.empty() && entry.name == expected_)
        met(entry.name);
      else
        entries[i].push_back(entry);
    }
    to.entries = entries[i];
    read.push_back(to);
  }
  // Nothing is looked at while the consumer is behind; the next listing tells it all again.
  if (behind()) return wake_if_earlier(), SG_OK;
  deliver(judge_.listings(read));
  return SG_OK;
}

void Feed::on_state(sg_str json) {
  std::lock_guard lock(mutex_);
  watcher_state_.assign(json.data, json.len);
}

void Feed::ended(const Status& why) {
  std::lock_guard lock(mutex_);
  ended_ = true;
  end_ = why;
  told_.notify_all();
  if (closed_ || !live_) return;
  const std::string reason = why ? "it said nothing" : why.error().text;
  if (!judge_.looks()) return log::error("the watcher ended, changes are not seen: " + reason);
  log::error("the watcher ended, polling instead: " + reason);
  blind_.emplace("", true);
  poll_at_ = mono_ns() + interval_ns_;
  work_.notify_all();
}

// ---- What the session asks --------------------------------------------------

Status Feed::wait_ready(int64_t deadline_ns) {
  std::unique_lock lock(mutex_);
  const bool told = told_.wait_until(lock, at(deadline_ns), [&] { return ready_ || ended_; });
  if (ended_) {
    if (!end_) return end_;
    return fail(Fault::failed, "the watcher ended before it was ready");
  }
  if (!told) return fail(Fault::timeout, "the watcher was not ready in time");
  return {};
}

void Feed::expect(std::string path) {
  std::lock_guard lock(mutex_);
  expected_ = std::move(path);
  expected_came_ = false;
}

bool Feed::wait_expected(int64_t deadline_ns) {
  std::unique_lock lock(mutex_);
  told_.wait_until(lock, at(deadline_ns), [&] { return expected_came_ || ended_ || closed_; });
  return expected_came_;
}

void Feed::go_live() {
  std::lock_guard lock(mutex_);
  judge_.release(kNever, true);
  live_ = !closed_;
}

void Feed::set_backlogged(std::function<bool()> backlogged) {
  std::lock_guard lock(mutex_);
  backlogged_ = std::move(backlogged);
}

void Feed::release_held() {
  std::lock_guard lock(mutex_);
  if (closed_ || !ready_) return;
  deliver(judge_.release(kNever, true));
}

void Feed::audit() {
  std::lock_guard lock(mutex_);
  if (closed_ || !ready_) return;
  deliver(judge_.release(kNever, true));
  if (judge_.looks()) deliver(judge_.compare("", true));
}

Feed::Numbers Feed::numbers() const {
  std::lock_guard lock(mutex_);
  return {judge_.tree().files(), judge_.tree().dirs(), judge_.held(), blind_.size(), rescans_,
          judge_.root_there()};
}

std::string Feed::watcher_state() const {
  std::lock_guard lock(mutex_);
  return watcher_state_;
}

// ---- Delivering, and what has a time of its own -----------------------------

bool Feed::behind() {
  if (!behind_ && live_ && backlogged_ && backlogged_()) behind_ = true;
  return behind_;
}

void Feed::deliver(std::vector<FileChange> batch) {
  if (!live_ || batch.empty()) return;
  if (logs()) std::for_each(batch.begin(), batch.end(), say_judged);
  sink_(std::move(batch));
}

void Feed::rescan() {
  ++rescans_;
  deliver(judge_.rescan());
}

void Feed::see_again(std::string_view path) {
  auto inside = [&](std::string_view other) {
    if (path.empty() || other == path) return true;
    return other.size() > path.size() && other.substr(0, path.size()) == path &&
           other[path.size()] == '/';
  };
  std::erase_if(blind_, [&](const auto& one) { return inside(one.first); });
  if (blind_.empty()) poll_at_ = kNever;
}

int64_t Feed::next_wake() const {
  int64_t next = behind_ ? mono_ns() + kBacklogCheckNs : judge_.next_due();
  return std::min(next, behind_ ? kNever : poll_at_);
}

// The thread sleeps until wake_at_; while files come and go it wakes once per hold, not per file.
void Feed::wake_if_earlier() {
  if (next_wake() < wake_at_) work_.notify_one();
}

void Feed::work() {
  std::unique_lock lock(mutex_);
  while (!closed_) {
    wake_at_ = next_wake();
    if (wake_at_ == kNever)
      work_.wait(lock);
    else
      work_.wait_until(lock, at(wake_at_));
    if (closed_) return;
    const int64_t now = mono_ns();
    if (behind_) {
      if (backlogged_ && backlogged_()) continue;
      behind_ = false;
      rescan();
      std::vector<Hint> owed;
      for (const std::string& path : owed_) owed.push_back({SG_HINT_CHANGED, 0, 0, now, path});
      if (!owed.empty()) deliver(judge_.hints(owed));
      owed_.clear();
    }
    if (judge_.next_due() <= now) deliver(judge_.release(now, false));
    if (poll_at_ <= now) poll_blind(now);
  }
}

void Feed::poll_blind(int64_t now_ns) {
  if (behind()) return;
  for (auto it = blind_.begin(); it != blind_.end();) {
    deliver(judge_.compare(it->first, false));
    it = it->first.empty() || judge_.knows_dir(it->first) ? std::next(it) : blind_.erase(it);
  }
  const int64_t end = mono_ns();
  poll_at_ = blind_.empty() ? kNever : end + std::max(interval_ns_, kPollRest * (end - now_ns));
}

}  // namespace sandglass::watch
