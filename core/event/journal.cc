#include "event/journal.h"

#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "base/fd.h"
#include "base/log.h"
#include "base/text.h"
#include "event/rows.h"

namespace sandglass {
namespace {

using Clock = std::chrono::steady_clock;

// The newest events in memory. The writer adds; cursors read.
class Ring {
 public:
  Ring(size_t size, uint64_t last) : slots_(size), last_(last), first_(last + 1) {}

  void publish(const std::vector<EventPtr>& group) {
    std::lock_guard lock(mutex_);
    for (const EventPtr& event : group) {
      slots_[event->seq % slots_.size()] = event;
      last_ = event->seq;
    }
    if (last_ >= first_ + slots_.size()) first_ = last_ - slots_.size() + 1;
    if (waiting_) news_.notify_all();
  }
  void close() {
    std::lock_guard lock(mutex_);
    closed_ = true;
    news_.notify_all();
  }
  uint64_t last() const {
    std::lock_guard lock(mutex_);
    return last_;
  }

  // Waits until there is something after `after`, `*woken` is set, or it is closed.
  bool wait(uint64_t after, int timeout_ms, bool& woken) {
    std::unique_lock lock(mutex_);
    auto ready = [&] { return last_ > after || woken || closed_; };
    waiting_++;
    if (timeout_ms < 0)
      news_.wait(lock, ready);
    else
      news_.wait_for(lock, std::chrono::milliseconds(timeout_ms), ready);
    waiting_--;
    woken = false;
    return last_ > after;
  }
  void wake(bool& woken) {
    std::lock_guard lock(mutex_);
    woken = true;
    news_.notify_all();
  }
  // What lies after `after`; false when that has left the ring already.
  bool copy(uint64_t after, size_t max, std::vector<EventPtr>& out) const {
    std::lock_guard lock(mutex_);
    if (after + 1 < first_) return false;
    for (uint64_t seq = after + 1; seq <= last_ && out.size() < max; seq++) out.push_back(slots_[seq % slots_.size()]);
    return true;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable news_;
  std::vector<EventPtr> slots_;
  uint64_t last_, first_;
  int waiting_ = 0;
  bool closed_ = false;
};

class FileCursor : public Cursor {
 public:
  FileCursor(Ring& ring, std::string file, uint64_t after) : ring_(ring), file_(std::move(file)), position_(after) {}

  std::vector<EventPtr> next(size_t max, int timeout_ms) override {
    std::vector<EventPtr> out;
    if (!ring_.wait(position_, timeout_ms, woken_)) return out;
    if (!ring_.copy(position_, max, out)) out = read_rows(max);
    if (!out.empty()) position_ = out.back()->seq;
    return out;
  }
  uint64_t position() const override { return position_; }
  void wake() override { ring_.wake(woken_); }

 private:
  std::vector<EventPtr> read_rows(size_t max) {
    std::vector<EventPtr> out;
    auto events = read_journal(file_, position_, max);
    if (!events) {
      log::error("events after " + std::to_string(position_) + " cannot be read: " + events.error().text);
      return out;
    }
    for (Event& event : *events) {
      event.flags |= event_replay;
      out.push_back(std::make_shared<const Event>(std::move(event)));
    }
    return out;
  }

  Ring& ring_;
  std::string file_;
  uint64_t position_;
  bool woken_ = false;  // under the ring's mutex
};

class FileJournal : public Journal {
 public:
  FileJournal(std::string file, Origin origin, Options options, sqlite::Database db, sqlite::Statement insert,
              uint64_t last)
      : file_(std::move(file)), origin_(std::move(origin)), options_(options), db_(std::move(db)),
        insert_(std::move(insert)), ring_(options.ring, last), appended_(last), done_(last),
        writer_([this] { write_all_groups(); }) {
    ::pthread_setname_np(writer_.native_handle(), "sg-journal");
  }
  ~FileJournal() override {
    {
      std::lock_guard lock(mutex_);
      closing_ = true;
      work_.notify_all();
    }
    writer_.join();
    ring_.close();
  }

  void append(std::vector<Event> events) override {
    std::lock_guard lock(mutex_);
    for (Event& event : events) {
      event.seq = ++appended_;
      queue_.push_back(std::make_shared<const Event>(std::move(event)));
    }
    if (idle_) work_.notify_one();
  }
  bool backlogged() const override {
    std::lock_guard lock(mutex_);
    return appended_ - done_ > options_.queue;
  }
  Status sync(int timeout_ms) override {
    std::unique_lock lock(mutex_);
    const uint64_t wanted = appended_;
    syncing_++;
    const bool there = committed_.wait_for(lock, std::chrono::milliseconds(timeout_ms), [&] { return done_ >= wanted; });
    syncing_--;
    if (there) return {};
    return fail(Fault::timeout, "the journal " + shown(file_) + " did not take all events in time" +
                                    (write_error_.empty() ? "" : ": " + write_error_));
  }
  uint64_t last_seq() const override { return ring_.last(); }
  const Origin& origin() const override { return origin_; }
  std::unique_ptr<Cursor> subscribe(uint64_t after) override {
    return std::make_unique<FileCursor>(ring_, file_, after);
  }

 private:
  void write_all_groups() {
    std::vector<EventPtr> group;
    std::unique_lock lock(mutex_);
    for (;;) {
      idle_ = true;
      work_.wait(lock, [&] { return closing_ || !queue_.empty(); });
      idle_ = false;
      if (queue_.empty()) return;
      group.swap(queue_);
      lock.unlock();
      const bool kept = write_until_kept(group);
      if (kept) ring_.publish(group);
      lock.lock();
      if (!kept) return;  // closing, and the disk still refuses
      done_ = group.back()->seq;
      group.clear();
      if (syncing_) committed_.notify_all();
    }
  }

  // Tries until the group is committed. False once the journal closes without it.
  bool write_until_kept(const std::vector<EventPtr>& group) {
    for (bool said = false;;) {
      Status written = write_group(group);
      if (written) {
        if (said) log::info("the journal " + shown(file_) + " can be written again; nothing was lost");
        std::lock_guard lock(mutex_);
        write_error_.clear();
        return true;
      }
      if (!said)
        log::error("the journal " + shown(file_) + " cannot be written: " + written.error().text +
                   "; events are kept in memory and tried again: make room, or stop the run");
      said = true;
      std::unique_lock lock(mutex_);
      write_error_ = written.error().text;
      if (work_.wait_for(lock, std::chrono::milliseconds(200), [&] { return closing_; })) {
        if (write_group(group)) return true;
        log::error(std::to_string(group.size() + queue_.size()) + " events were lost: the journal " + shown(file_) +
                   " could not be written until the end");
        return false;
      }
    }
  }

  Status write_group(const std::vector<EventPtr>& group) {
    if (Status begun = db_.run("BEGIN IMMEDIATE"); !begun) return begun;
    for (const EventPtr& event : group) {
      if (rows::insert(insert_, *event) == SQLITE_DONE) continue;
      Error error{Fault::failed, db_.message()};
      (void)db_.run("ROLLBACK");
      return tl::unexpected(std::move(error));
    }
    Status done = db_.run("COMMIT");
    if (!done) (void)db_.run("ROLLBACK");
    return done;
  }

  const std::string file_;
  const Origin origin_;
  const Options options_;
  sqlite::Database db_;         // the writer's
  sqlite::Statement insert_;    // the writer's
  Ring ring_;
  mutable std::mutex mutex_;    // all below
  std::condition_variable work_, committed_;
  std::vector<EventPtr> queue_;
  uint64_t appended_, done_;
  std::string write_error_;
  bool idle_ = false, closing_ = false;
  int syncing_ = 0;
  std::thread writer_;
};

}  // namespace

Result<std::unique_ptr<Journal>> Journal::open(const std::string& file, Origin origin) {
  return open(file, std::move(origin), Options{});
}

Result<std::unique_ptr<Journal>> Journal::open(const std::string& file, Origin origin, Options options) {
  {  // made by us first: SQLite would follow the umask
    Fd made(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!made) return fail_errno(errno, "cannot make the journal " + shown(file));
  }
  auto db = sqlite::Database::open(file, sqlite::Database::Mode::create);
  if (!db) return tl::unexpected(db.error());
  for (const char* sql : {"PRAGMA journal_mode = WAL", "PRAGMA synchronous = NORMAL", "PRAGMA wal_autocheckpoint = 4000"})
    if (Status done = db->run(sql); !done) return tl::unexpected(done.error());
  if (Status ready = rows::prepare(*db, file); !ready) return tl::unexpected(ready.error());
  auto last = rows::integer(*db, "SELECT coalesce(max(seq), 0) FROM events");
  if (!last) return tl::unexpected(last.error());
  auto insert = rows::insert_statement(*db);
  if (!insert) return tl::unexpected(insert.error());
  return std::make_unique<FileJournal>(file, std::move(origin), options, std::move(*db), std::move(*insert),
                                       static_cast<uint64_t>(*last));
}

void Journal::append(Event event) {
  std::vector<Event> one;
  one.push_back(std::move(event));
  append(std::move(one));
}

static Result<sqlite::Database> open_for_reading(const std::string& file) {
  auto db = sqlite::Database::open(file, sqlite::Database::Mode::read_only);
  if (!db) return db;
  if (Status query = db->run("PRAGMA query_only = 1"); !query) return tl::unexpected(query.error());
  if (Status known = rows::check_schema(*db, file); !known) return tl::unexpected(known.error());
  return db;
}

Result<std::vector<Event>> read_journal(const std::string& file, uint64_t after, size_t limit) {
  auto db = open_for_reading(file);
  if (!db) return tl::unexpected(db.error());
  auto statement = rows::select_statement(*db);
  if (!statement) return tl::unexpected(statement.error());
  return rows::select(*statement, after, limit);
}

Result<JournalSummary> summarize_journal(const std::string& file) {
  auto db = open_for_reading(file);
  if (!db) return tl::unexpected(db.error());
  JournalSummary out;
  auto counts = db->prepare("SELECT count(*), coalesce(sum(kind <= 2), 0), coalesce(max(time_ns), 0) FROM events");
  if (!counts) return tl::unexpected(counts.error());
  if (counts->step() != SQLITE_ROW) return fail(Fault::failed, db->message());
  out.events = static_cast<uint64_t>(counts->integer(0));
  out.file_events = static_cast<uint64_t>(counts->integer(1));
  out.last_ns = counts->integer(2);
  auto state = db->prepare("SELECT json_extract(json, '$.to') FROM events WHERE kind = 10 ORDER BY seq DESC LIMIT 1");
  if (!state) return tl::unexpected(state.error());
  if (state->step() == SQLITE_ROW) out.state = state->text(0);
  return out;
}

}  // namespace sandglass
