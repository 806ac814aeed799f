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
  FileJournal(std::string file, Origin origin, Options options, rows::Writer rows)
      : file_(std::move(file)),
        origin_(std::move(origin)),
        options_(options),
        rows_(std::move(rows)),
        ring_(std::make_shared<Ring>(options.ring, rows_.last())),
        appended_(rows_.last()),
        done_(rows_.last()),
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
    const bool wake = std::exchange(idle_, false);
    lock.unlock();
    if (wake) work_.notify_one();
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
  std::unique_ptr<Cursor> subscribe(uint64_t after) override {
    return std::make_unique<RingCursor>(ring_, file_, after);
  }

 private:
  void write_until_closed() {
    std::vector<EventPtr> taken;
    std::unique_lock lock(mutex_);
    for (;;) {
      idle_ = queue_.empty();
      work_.wait(lock, [&] { return closing_ || !queue_.empty(); });
      idle_ = false;
      if (queue_.empty()) return;
      taken.swap(queue_);
      lock.unlock();
      const bool kept = write_groups(taken);
      taken.clear();
      lock.lock();
      if (!kept) return;
    }
  }

  // Commits and publishes one group after the other. False once the journal closes without them.
  bool write_groups(std::vector<EventPtr>& taken) {
    std::vector<EventPtr> group;
    for (size_t at = 0; at < taken.size(); at += group.size()) {
      const auto begin = taken.begin() + static_cast<std::ptrdiff_t>(at);
      const size_t count = std::min(kGroup, taken.size() - at);
      group.assign(std::move_iterator(begin),
                   std::move_iterator(begin + static_cast<std::ptrdiff_t>(count)));
      const uint64_t last = group.back()->seq;
      if (!write_until_kept(group)) return false;
      ring_->publish(group);
      std::lock_guard lock(mutex_);
      done_ = last;
      if (syncing_) committed_.notify_all();
    }
    return true;
  }

  bool write_until_kept(std::span<const EventPtr> group) {
    Status written = rows_.write(group);
    if (written) return true;
    log::error("the journal " + shown(file_) + " cannot be written: " + written.error().text +
               "; events are kept in memory and tried again: make room, or stop the run");
    std::unique_lock lock(mutex_);
    for (bool last_try = false; !written; lock.lock()) {
      write_error_ = written.error().text;
      if (last_try) return say_lost();
      last_try = work_.wait_for(lock, kRetry, [&] { return closing_; });
      lock.unlock();
      written = rows_.write(group);
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
  return std::make_unique<FileJournal>(file, std::move(origin), options, std::move(*rows));
}

void Journal::append(Event event) {
  std::vector<Event> one;
  one.push_back(std::move(event));
  append(std::move(one));
}

Result<std::vector<Event>> read_journal(const std::string& file, uint64_t after, size_t limit) {
  auto reader = rows::Reader::open(file);
  if (!reader) return tl::unexpected(reader.error());
  return reader->read(after, UINT64_MAX, limit);
}

Result<JournalSummary> summarize_journal(const std::string& file) {
  auto reader = rows::Reader::open(file);
  if (!reader) return tl::unexpected(reader.error());
  sqlite::Database& db = reader->database();
  JournalSummary out;
  auto counts = db.prepare(
      "SELECT count(*), coalesce(sum(kind <= 2), 0), coalesce(max(time_ns), 0) FROM events");
  if (!counts) return tl::unexpected(counts.error());
  if (counts->step() != sqlite::kRow) return tl::unexpected(db.error());
  out.events = static_cast<uint64_t>(counts->integer(0));
  out.file_events = static_cast<uint64_t>(counts->integer(1));
  out.last_ns = counts->integer(2);
  auto state = db.prepare(
      "SELECT json_extract(json, '$.to') FROM events WHERE kind = 10 ORDER BY seq DESC LIMIT 1");
  if (!state) return tl::unexpected(state.error());
  if (state->step() == sqlite::kRow) out.state = state->text(0);
  return out;
}

}  // namespace sandglass
