#include "event/journal.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <span>
#include <thread>

#include "base/log.h"
#include "base/text.h"
#include "event/cursor.h"
#include "event/ring.h"
#include "event/rows.h"

namespace sandglass {
namespace {

// Events of one commit: enough to make its price small, few enough to let readers begin.
constexpr size_t kGroup = 512;
constexpr std::chrono::milliseconds kRetry{200};

// What an outlet holds on to: the journal, as long as there is one.
struct Door {
  std::mutex mutex;
  Journal* journal;
};

class FileJournal : public Journal {
 public:
  FileJournal(std::string file, Origin origin, Options options, rows::Writer rows, Places places)
      : file_(std::move(file)),
        origin_(std::move(origin)),
        options_(options),
        rows_(std::move(rows)),
        ring_(std::make_shared<Ring>(options.ring, rows_.last())),
        appended_(rows_.last()),
        done_(rows_.last()),
        places_(std::move(places)),
        door_(std::make_shared<Door>()),
        writer_([this] { write_until_closed(); }) {
    door_->journal = this;
    ::pthread_setname_np(writer_.native_handle(), "sg-journal");
  }

  ~FileJournal() override {
    {
      std::lock_guard lock(door_->mutex);
      door_->journal = nullptr;
    }
    {
      std::lock_guard lock(mutex_);
      closing_ = true;
      work_.notify_all();
    }
    writer_.join();
    ring_->close();
  }

  void append(std::vector<Event> events) override {
    if (events.empty()) return;
    std::vector<std::shared_ptr<Event>> made;
    made.reserve(events.size());
    for (Event& event : events) made.push_back(std::make_shared<Event>(std::move(event)));
    std::unique_lock lock(mutex_);
    for (auto& event : made) {
      event->seq = ++appended_;
      queue_.push_back(std::move(event));
    }
    wake(lock);
  }

  bool backlogged() const override {
    std::lock_guard lock(mutex_);
    return appended_ - done_ > options_.queue;
  }

  std::string write_error() const override {
    std::lock_guard lock(mutex_);
    return write_error_;
  }

  std::function<bool(Event)> outlet() override {
    return [door = door_](Event event) {
      std::lock_guard lock(door->mutex);
      if (!door->journal || door->journal->backlogged()) return false;
      door->journal->append(std::move(event));
      return true;
    };
  }

  Status sync(int timeout_ms) override {
    std::unique_lock lock(mutex_);
    const uint64_t wanted = appended_;
    const auto limit = std::chrono::milliseconds(std::max(timeout_ms, 0));
    syncing_++;
    const bool there = committed_.wait_for(lock, limit, [&] { return done_ >= wanted; });
    syncing_--;
    if (there) return {};
    const std::string why = write_error_.empty() ? "" : ": " + write_error_;
    return fail(Fault::timeout, "the journal " + shown(file_) + " did not take all events within " +
                                    std::to_string(timeout_ms) + " ms" + why);
  }

  uint64_t last_seq() const override { return ring_->last(); }
  const Origin& origin() const override { return origin_; }

  Places places() const override {
    std::lock_guard lock(mutex_);
    return places_;
  }
  void keep_place(const std::string& name, Place place) override {
    std::unique_lock lock(mutex_);
    places_[name] = place;
    moved_[name] = place;
    wake(lock);
  }
  void drop_place(const std::string& name) override {
    std::unique_lock lock(mutex_);
    places_.erase(name);
    moved_[name] = {rows::Writer::kDropped, 0, 0, 0};
    wake(lock);
  }

  std::unique_ptr<Cursor> subscribe(uint64_t after) override {
    return std::make_unique<RingCursor>(ring_, file_, after);
  }

 private:
  void wake(std::unique_lock<std::mutex>& lock) {
    const bool sleeps = std::exchange(idle_, false);
    lock.unlock();
    if (sleeps) work_.notify_one();
  }

  // What the writer thread has taken out of the queue and owes the disk.
  struct Taken {
    std::vector<EventPtr> events;
    Places places;
  };

  void write_until_closed() {
    Taken taken;
    std::unique_lock lock(mutex_);
    for (;;) {
      idle_ = nothing_due();
      work_.wait(lock, [&] { return closing_ || !nothing_due(); });
      idle_ = false;
      if (nothing_due()) return;
      taken.events.swap(queue_);
      taken.places.swap(moved_);
      lock.unlock();
      const bool kept = write_groups(taken);
      taken.events.clear();
      lock.lock();
      if (!kept) return;
    }
  }

  bool nothing_due() const { return queue_.empty() && moved_.empty(); }

  // Commits and publishes one group after the other. False once the journal closes without them.
  bool write_groups(Taken& taken) {
    std::vector<EventPtr> group;
    if (taken.events.empty()) return write_until_kept(group, taken.places);
    for (size_t at = 0; at < taken.events.size(); at += group.size()) {
      const auto begin = taken.events.begin() + static_cast<std::ptrdiff_t>(at);
      const size_t count = std::min(kGroup, taken.events.size() - at);
      group.assign(std::move_iterator(begin),
                   std::move_iterator(begin + static_cast<std::ptrdiff_t>(count)));
      const uint64_t last = group.back()->seq;
      if (!write_until_kept(group, taken.places)) return false;
      ring_->publish(group);
      std::lock_guard lock(mutex_);
      done_ = last;
      if (syncing_) committed_.notify_all();
    }
    return true;
  }

  // The places go with the first group that is kept.
  bool write_until_kept(std::span<const EventPtr> group, Places& places) {
    Status written = rows_.write(group, places);
    if (!written && !write_again(group, places, written)) return false;
    places.clear();
    return true;
  }

  bool write_again(std::span<const EventPtr> group, const Places& places, Status written) {
    log::error("the journal " + shown(file_) + " cannot be written: " + written.error().text +
               "; events are kept in memory and tried again: make room, or stop the run");
    std::unique_lock lock(mutex_);
    for (bool last_try = false; !written; lock.lock()) {
      write_error_ = written.error().text;
      if (last_try) return say_lost();
      last_try = work_.wait_for(lock, kRetry, [&] { return closing_; });
      lock.unlock();
      written = rows_.write(group, places);
    }
    write_error_.clear();
    lock.unlock();
    log::info("the journal " + shown(file_) + " can be written again; nothing was lost");
    return true;
  }

  bool say_lost() {
    log::error(std::to_string(appended_ - done_) + " events were lost: the journal " +
               shown(file_) + " could not be written until the end: " + write_error_);
    return false;
  }

  const std::string file_;
  const Origin origin_;
  const Options options_;
  rows::Writer rows_;  // the writer thread's
  const std::shared_ptr<Ring> ring_;
  mutable std::mutex mutex_;  // all below, down to door_
  std::condition_variable work_, committed_;
  std::vector<EventPtr> queue_;
  uint64_t appended_, done_;
  Places places_, moved_;  // as kept; of these, what is not yet on its way to the disk
  std::string write_error_;
  bool idle_ = false;  // the writer waits and nobody has woken it yet
  bool closing_ = false;
  int syncing_ = 0;
  const std::shared_ptr<Door> door_;
  std::thread writer_;
};

}  // namespace

Result<std::unique_ptr<Journal>> Journal::open(const std::string& file, Origin origin) {
  return open(file, std::move(origin), Options{});
}

Result<std::unique_ptr<Journal>> Journal::open(const std::string& file, Origin origin,
                                               Options options) {
  auto rows = rows::Writer::open(file);
  if (!rows) return tl::unexpected(rows.error());
  auto places = rows->places();
  if (!places) return tl::unexpected(places.error());
  return std::make_unique<FileJournal>(file, std::move(origin), options, std::move(*rows),
                                       std::move(*places));
}

void Journal::append(Event event) {
  std::vector<Event> one;
  one.push_back(std::move(event));
  append(std::move(one));
}

namespace {

// Runs fn with a reader; once more where somebody began to write meanwhile.
template <class T>
Result<T> read_with(const std::string& file, const std::function<Result<T>(rows::Reader&)>& fn) {
  for (bool again = true;; again = false) {
    auto reader = rows::Reader::open(file);
    if (!reader) return tl::unexpected(reader.error());
    Result<T> out = fn(*reader);
    if (reader->still_right() || !again) return out;
  }
}

Result<JournalSummary> summarize(rows::Reader& reader) {
  sqlite::Database& db = reader.database();
  JournalSummary out;
  auto counts = db.prepare(
      "SELECT count(*), coalesce(sum(kind <= 2), 0), coalesce(max(time_ns), 0),"
      " coalesce(min(seq), 0), coalesce(max(seq), 0), coalesce(min(time_ns), 0) FROM events");
  if (!counts) return tl::unexpected(counts.error());
  if (counts->step() != sqlite::kRow) return tl::unexpected(db.error());
  out.events = static_cast<uint64_t>(counts->integer(0));
  out.file_events = static_cast<uint64_t>(counts->integer(1));
  out.last_ns = counts->integer(2);
  out.first_seq = static_cast<uint64_t>(counts->integer(3));
  out.last_seq = static_cast<uint64_t>(counts->integer(4));
  out.first_ns = counts->integer(5);
  auto state = db.prepare(
      "SELECT json_extract(json, '$.to') FROM events WHERE kind = 10 ORDER BY seq DESC LIMIT 1");
  if (!state) return tl::unexpected(state.error());
  if (state->step() == sqlite::kRow) out.state = state->text(0);
  auto ready = db.integer("SELECT coalesce(max(seq), 0) FROM events WHERE kind = 3");
  if (!ready) return tl::unexpected(ready.error());
  out.ready_seq = static_cast<uint64_t>(*ready);
  auto run =
      db.prepare("SELECT kind, run FROM events WHERE kind IN (6, 7) ORDER BY seq DESC LIMIT 1");
  if (!run) return tl::unexpected(run.error());
  if (run->step() == sqlite::kRow && run->integer(0) == 6) out.open_run = run->text(1);
  auto places = reader.places();
  if (!places) return tl::unexpected(places.error());
  out.places = std::move(*places);
  auto owed = db.prepare("SELECT count(*) FROM events WHERE seq > ? AND (1 << kind) & ?");
  if (!owed) return tl::unexpected(owed.error());
  for (const auto& [name, place] : out.places) {
    owed->bind(1, static_cast<int64_t>(place.seq));
    owed->bind(2, static_cast<int64_t>(place.kinds));
    if (owed->step() != sqlite::kRow) return tl::unexpected(db.error());
    if (const int64_t count = owed->integer(0)) out.owed[name] = static_cast<uint64_t>(count);
    owed->reset();
  }
  return out;
}

}  // namespace

Result<std::vector<Event>> read_journal(const std::string& file, uint64_t after, size_t limit) {
  return read_with<std::vector<Event>>(
      file, [&](rows::Reader& reader) { return reader.read(after, UINT64_MAX, limit); });
}

Result<JournalSummary> summarize_journal(const std::string& file) {
  return read_with<JournalSummary>(file, summarize);
}

}  // namespace sandglass
