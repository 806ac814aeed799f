#include "event/rows.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "base/fd.h"
#include "base/text.h"
#include "event/details.h"

namespace sandglass::rows {
namespace {

constexpr size_t kReadBytes = 64 << 20;

// Step i brings a file from version i to i + 1. Never change one that was released: append.
constexpr const char* kMigrations[] = {
    "CREATE TABLE events(seq INTEGER PRIMARY KEY, time_ns INTEGER NOT NULL, kind INTEGER NOT NULL,"
    " flags INTEGER NOT NULL, run TEXT NOT NULL, path BLOB NOT NULL, topic TEXT NOT NULL,"
    " json TEXT NOT NULL, actor INTEGER NOT NULL, actor_pid INTEGER NOT NULL,"
    " actor_command TEXT NOT NULL);"
    "PRAGMA user_version = 1;",
    "CREATE TABLE places(name TEXT PRIMARY KEY, seq INTEGER NOT NULL, kinds INTEGER NOT NULL,"
    " stuck_seq INTEGER NOT NULL, since_ns INTEGER NOT NULL) WITHOUT ROWID;"
    "PRAGMA user_version = 2;",
};
static_assert(std::size(kMigrations) == kSchema);

// Pages in the write-ahead log before they are moved into the file: 16 MB, seldom enough not to be
// felt by who waits for an event.
constexpr const char* kSettings[] = {"PRAGMA journal_mode = WAL", "PRAGMA synchronous = NORMAL",
                                     "PRAGMA wal_autocheckpoint = 4000"};

tl::unexpected<Error> unusable(const std::string& file, const Error& error) {
  std::string text = "cannot use the journal " + shown(file) + ": " + error.text;
  if (error.fault == Fault::corrupt)
    text += ". Move the file away to start a new one; `sqlite3 FILE .recover` may save its rows";
  return fail(error.fault, std::move(text));
}

// Made by us first: SQLite would follow the umask. An existing file is not opened here: closing it
// would drop the locks of every connection this process has to it.
Status make_private(const std::string& file) {
  const Fd made(::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (made) return {};
  if (errno != EEXIST) return fail_errno(errno, "cannot make the journal " + shown(file));
  struct stat st {};
  if (::lstat(file.c_str(), &st) != 0)
    return fail_errno(errno, "cannot look at the journal " + shown(file));
  if (!S_ISREG(st.st_mode))
    return fail(Fault::denied, "the journal " + shown(file) +
                                   " is not a regular file: remove what lies there, or choose "
                                   "another state directory");
  if ((st.st_mode & 0777) != 0600 && ::chmod(file.c_str(), 0600) != 0)
    return fail_errno(errno, "cannot make the journal " + shown(file) + " private");
  return {};
}

Result<int64_t> known_version(sqlite::Database& db, const std::string& file) {
  auto version = db.integer("PRAGMA user_version");
  if (!version) return unusable(file, version.error());
  if (*version >= 0 && *version <= kSchema) return version;
  return fail(Fault::invalid, "the journal " + shown(file) + " has schema " +
                                  std::to_string(*version) + ", this sandglass knows " +
                                  std::to_string(kSchema) + ": use the newer sandglass to read it");
}

Status migrate(sqlite::Database& db, int64_t from) {
  for (int64_t version = from; version < kSchema; version++) {
    Status done = db.run("BEGIN IMMEDIATE");
    if (done) done = db.run(kMigrations[version]);
    if (done) done = db.run("COMMIT");
    if (done) continue;
    (void)db.run("ROLLBACK");
    return done;
  }
  return {};
}

Event event_of(sqlite::Statement& row) {
  Event e;
  e.seq = static_cast<uint64_t>(row.integer(0));
  e.time_ns = row.integer(1);
  e.kind = static_cast<EventKind>(row.integer(2));
  e.flags = static_cast<uint32_t>(row.integer(3));
  e.run_id = row.text(4);
  e.path = row.text(5);
  e.topic = row.text(6);
  e.json = details_from_file(row.text(7));
  e.actor.kind = static_cast<ActorKind>(row.integer(8));
  e.actor.pid = static_cast<int32_t>(row.integer(9));
  e.actor.command = row.text(10);
  return e;
}

size_t size_of(const Event& e) {
  return e.run_id.size() + e.path.size() + e.topic.size() + e.json.size() + e.actor.command.size();
}

int64_t clamped(uint64_t n) {
  return static_cast<int64_t>(std::min<uint64_t>(n, INT64_MAX));
}

Result<Places> places_of(sqlite::Database& db) {
  Places out;
  auto version = db.integer("PRAGMA user_version");
  if (!version) return tl::unexpected(version.error());
  if (*version < 2) return out;
  auto select = db.prepare("SELECT name,seq,kinds,stuck_seq,since_ns FROM places");
  if (!select) return tl::unexpected(select.error());
  int code;
  while ((code = select->step()) == sqlite::kRow)
    out[select->text(0)] = {static_cast<uint64_t>(select->integer(1)),
                            static_cast<uint64_t>(select->integer(2)),
                            static_cast<uint64_t>(select->integer(3)), select->integer(4)};
  if (code != sqlite::kDone) return tl::unexpected(db.error());
  return out;
}

}  // namespace

Result<Writer> Writer::open(const std::string& file) {
  if (Status made = make_private(file); !made) return tl::unexpected(made.error());
  auto db = sqlite::Database::open(file, sqlite::Database::Mode::create);
  if (!db) return tl::unexpected(db.error());
  auto version = known_version(*db, file);
  if (!version) return tl::unexpected(version.error());
  for (const char* sql : kSettings)
    if (Status done = db->run(sql); !done) return unusable(file, done.error());
  if (Status ready = migrate(*db, *version); !ready) return unusable(file, ready.error());
  auto last = db->integer("SELECT coalesce(max(seq), 0) FROM events");
  if (!last) return unusable(file, last.error());
  Writer out(std::move(*db), static_cast<uint64_t>(*last));
  if (Status ready = out.prepare(); !ready) return unusable(file, ready.error());
  return out;
}

Status Writer::prepare() {
  auto begin = db_.prepare("BEGIN IMMEDIATE");
  if (!begin) return tl::unexpected(begin.error());
  auto insert = db_.prepare("INSERT INTO events VALUES(?,?,?,?,?,?,?,?,?,?,?)");
  if (!insert) return tl::unexpected(insert.error());
  auto place = db_.prepare("INSERT OR REPLACE INTO places VALUES(?,?,?,?,?)");
  if (!place) return tl::unexpected(place.error());
  auto drop = db_.prepare("DELETE FROM places WHERE name = ?");
  if (!drop) return tl::unexpected(drop.error());
  auto commit = db_.prepare("COMMIT");
  if (!commit) return tl::unexpected(commit.error());
  begin_ = std::move(*begin);
  insert_ = std::move(*insert);
  place_ = std::move(*place);
  drop_ = std::move(*drop);
  commit_ = std::move(*commit);
  return {};
}

int Writer::insert(const Event& e) {
  insert_.bind(1, static_cast<int64_t>(e.seq));
  insert_.bind(2, e.time_ns);
  insert_.bind(3, static_cast<int64_t>(e.kind));
  insert_.bind(4, e.flags);
  insert_.bind_text(5, e.run_id);
  insert_.bind_blob(6, e.path);
  insert_.bind_text(7, e.topic);
  insert_.bind_text(8, e.json);
  insert_.bind(9, static_cast<int64_t>(e.actor.kind));
  insert_.bind(10, e.actor.pid);
  insert_.bind_text(11, e.actor.command);
  const int code = insert_.step();
  insert_.reset();
  return code;
}

int Writer::put(const std::string& name, const Place& place) {
  sqlite::Statement& statement = place.seq == kDropped ? drop_ : place_;
  statement.bind_text(1, name);
  if (place.seq != kDropped) {
    statement.bind(2, clamped(place.seq));
    statement.bind(3, clamped(place.kinds));
    statement.bind(4, clamped(place.stuck_seq));
    statement.bind(5, place.since_ns);
  }
  const int code = statement.step();
  statement.reset();
  return code;
}

Result<Places> Writer::places() {
  return places_of(db_);
}

Status Writer::insert_all(std::span<const EventPtr> events, const Places& places) {
  const int begun = begin_.step();
  begin_.reset();
  if (begun != sqlite::kDone) return tl::unexpected(db_.error());
  for (const EventPtr& event : events)
    if (event->seq > last_ && insert(*event) != sqlite::kDone) return tl::unexpected(db_.error());
  for (const auto& [name, place] : places)
    if (put(name, place) != sqlite::kDone) return tl::unexpected(db_.error());
  const int done = commit_.step();
  commit_.reset();
  if (done != sqlite::kDone) return tl::unexpected(db_.error());
  return {};
}

// A commit that reported an error may have happened.
Status Writer::recover() {
  auto stored = db_.integer("SELECT coalesce(max(seq), 0) FROM events");
  if (!stored) return tl::unexpected(stored.error());
  last_ = static_cast<uint64_t>(*stored);
  unsure_ = false;
  return {};
}

Status Writer::write(std::span<const EventPtr> events, const Places& places) {
  if (events.empty() && places.empty()) return {};
  if (unsure_)
    if (Status known = recover(); !known) return known;
  Status done = insert_all(events, places);
  if (done) {
    if (!events.empty()) last_ = events.back()->seq;
    return done;
  }
  unsure_ = true;
  (void)db_.run("ROLLBACK");  // fails where SQLite has rolled back by itself
  return done;
}

// The log is taken away by who closes a journal last.
static bool is_closed(const std::string& file) {
  return ::access((file + "-wal").c_str(), F_OK) != 0;
}

bool Reader::still_right() const {
  return closed_file_.empty() || is_closed(closed_file_);
}

Result<Reader> Reader::open(const std::string& file) {
  const bool closed = is_closed(file);
  auto db = sqlite::Database::open(
      file, closed ? sqlite::Database::Mode::closed : sqlite::Database::Mode::read_only);
  if (!db) return tl::unexpected(db.error());
  auto version = known_version(*db, file);
  if (!version) return tl::unexpected(version.error());
  if (*version == 0)
    return fail(Fault::busy, "the journal " + shown(file) + " is just being made: try again");
  auto select = db->prepare(
      "SELECT seq,time_ns,kind,flags,run,path,topic,json,actor,actor_pid,actor_command"
      " FROM events WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?");
  if (!select) return unusable(file, select.error());
  return Reader(closed ? file : "", std::move(*db), std::move(*select));
}

Result<Places> Reader::places() {
  return places_of(db_);
}

Result<std::vector<Event>> Reader::read(uint64_t after, uint64_t until, size_t limit) {
  std::vector<Event> out;
  select_.bind(1, clamped(after));
  select_.bind(2, clamped(until));
  select_.bind(3, clamped(limit));
  size_t bytes = 0;
  int code = sqlite::kDone;
  bool in_order = true;
  while (in_order && bytes < kReadBytes && (code = select_.step()) == sqlite::kRow) {
    Event event = event_of(select_);
    in_order = event.seq > (out.empty() ? after : out.back().seq);
    bytes += size_of(event);
    out.push_back(std::move(event));
  }
  Error error = code == sqlite::kRow || code == sqlite::kDone ? Error{} : db_.error();
  if (!in_order) error = {Fault::corrupt, "the journal is damaged: its rows are not in order"};
  select_.reset();
  if (!error.text.empty()) return tl::unexpected(error);
  return out;
}

}  // namespace sandglass::rows
