#include "event/rows.h"

#include <sqlite3.h>

#include "base/text.h"

namespace sandglass::rows {
namespace {

// Step i brings a file from version i to i + 1. Never change one that was released: append.
constexpr const char* kMigrations[] = {
    "CREATE TABLE events(seq INTEGER PRIMARY KEY, time_ns INTEGER NOT NULL, kind INTEGER NOT NULL,"
    " flags INTEGER NOT NULL, run TEXT NOT NULL, path BLOB NOT NULL, topic TEXT NOT NULL,"
    " json TEXT NOT NULL, actor INTEGER NOT NULL, actor_pid INTEGER NOT NULL,"
    " actor_command TEXT NOT NULL);"
    "PRAGMA user_version = 1;",
};
static_assert(std::size(kMigrations) == kSchema);

Event event_of(sqlite::Statement& row) {
  Event e;
  e.seq = static_cast<uint64_t>(row.integer(0));
  e.time_ns = row.integer(1);
  e.kind = static_cast<EventKind>(row.integer(2));
  e.flags = static_cast<uint32_t>(row.integer(3));
  e.run_id = row.text(4);
  e.path = row.text(5);
  e.topic = row.text(6);
  e.json = row.text(7);
  e.actor.kind = static_cast<ActorKind>(row.integer(8));
  e.actor.pid = static_cast<int32_t>(row.integer(9));
  e.actor.command = row.text(10);
  return e;
}

}  // namespace

Result<int64_t> integer(sqlite::Database& db, const char* sql) {
  auto statement = db.prepare(sql);
  if (!statement) return tl::unexpected(statement.error());
  if (statement->step() != SQLITE_ROW) return fail(Fault::failed, db.message());
  return statement->integer(0);
}

Status check_schema(sqlite::Database& db, const std::string& file) {
  auto version = integer(db, "PRAGMA user_version");
  if (!version) return tl::unexpected(version.error());
  if (*version <= kSchema) return {};
  return fail(Fault::invalid, "the journal " + shown(file) + " has schema " + std::to_string(*version) +
                                  ", this sandglass knows " + std::to_string(kSchema) +
                                  ": use the newer sandglass to read it");
}

Status prepare(sqlite::Database& db, const std::string& file) {
  if (Status known = check_schema(db, file); !known) return known;
  auto version = integer(db, "PRAGMA user_version");
  if (!version) return tl::unexpected(version.error());
  for (int64_t v = *version; v < kSchema; v++) {
    if (Status begun = db.run("BEGIN IMMEDIATE"); !begun) return begun;
    if (Status step = db.run(kMigrations[v]); !step) return step;
    if (Status done = db.run("COMMIT"); !done) return done;
  }
  return {};
}

Result<sqlite::Statement> insert_statement(sqlite::Database& db) {
  return db.prepare("INSERT INTO events VALUES(?,?,?,?,?,?,?,?,?,?,?)");
}

int insert(sqlite::Statement& s, const Event& e) {
  s.bind(1, static_cast<int64_t>(e.seq));
  s.bind(2, e.time_ns);
  s.bind(3, static_cast<int64_t>(e.kind));
  s.bind(4, e.flags);
  s.bind_text(5, e.run_id);
  s.bind_blob(6, e.path);
  s.bind_text(7, e.topic);
  s.bind_text(8, e.json);
  s.bind(9, static_cast<int64_t>(e.actor.kind));
  s.bind(10, e.actor.pid);
  s.bind_text(11, e.actor.command);
  const int code = s.step();
  s.reset();
  return code;
}

Result<sqlite::Statement> select_statement(sqlite::Database& db) {
  return db.prepare(
      "SELECT seq,time_ns,kind,flags,run,path,topic,json,actor,actor_pid,actor_command"
      " FROM events WHERE seq > ? ORDER BY seq LIMIT ?");
}

Result<std::vector<Event>> select(sqlite::Statement& statement, uint64_t after, size_t limit) {
  std::vector<Event> out;
  statement.bind(1, static_cast<int64_t>(after));
  statement.bind(2, static_cast<int64_t>(std::min<size_t>(limit, INT64_MAX)));
  int code;
  while ((code = statement.step()) == SQLITE_ROW) out.push_back(event_of(statement));
  statement.reset();
  if (code != SQLITE_DONE) return fail(Fault::failed, std::string("cannot read the journal: ") + sqlite3_errstr(code));
  return out;
}

}  // namespace sandglass::rows
