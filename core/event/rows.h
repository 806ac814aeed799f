// Events as rows of a journal file.
//
//     user_version 2
//     places(name TEXT PRIMARY KEY, seq, kinds, stuck_seq, since_ns)   since version 2
//     events(seq INTEGER PRIMARY KEY, time_ns, kind, flags, run TEXT, path BLOB, topic TEXT, json
//     TEXT,
//            actor INTEGER, actor_pid INTEGER, actor_command TEXT)
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "event/journal.h"
#include "event/sqlite.h"

namespace sandglass::rows {

inline constexpr int kSchema = 2;

// Puts events into a file. Belongs to one thread at a time.
class Writer {
 public:
  // Makes the tables or migrates an older file forward; a newer one is refused (rule P2). The file
  // is private to its user.
  static Result<Writer> open(const std::string& file);

  uint64_t last() const { return last_; }  // seq of the newest stored event, 0 for none
  Result<Places> places();
  // All events and places in one transaction, or none. After a failure the same events may be
  // written again: what the failed attempt had stored nevertheless is not stored twice. A place of
  // kDropped is taken out.
  Status write(std::span<const EventPtr> events, const Places& places);
  static constexpr uint64_t kDropped = UINT64_MAX;
  sqlite::Database& database() { return db_; }

 private:
  Writer(sqlite::Database db, uint64_t last) : db_(std::move(db)), last_(last) {}
  Status prepare();
  Status recover();
  Status insert_all(std::span<const EventPtr> events, const Places& places);
  int insert(const Event& event);
  int put(const std::string& name, const Place& place);

  sqlite::Database db_;
  sqlite::Statement begin_, insert_, place_, drop_, commit_;
  uint64_t last_;
  bool unsure_ = false;  // the last attempt failed: ask the file what it holds
};

// Reads a file that perhaps another process writes. Belongs to one thread at a time.
class Reader {
 public:
  static Result<Reader> open(const std::string& file);

  // What was read is right. False where somebody began to write on a file that was closed when it
  // was opened: read it anew.
  bool still_right() const;
  // Events with after < seq <= until, in order: at most `limit`, and no further ones once their
  // texts take 64 MiB. Empty where there are none.
  Result<std::vector<Event>> read(uint64_t after, uint64_t until, size_t limit);
  Result<Places> places();  // empty in a file of version 1
  sqlite::Database& database() { return db_; }

 private:
  Reader(std::string closed_file, sqlite::Database db, sqlite::Statement select)
      : closed_file_(std::move(closed_file)), db_(std::move(db)), select_(std::move(select)) {}
  std::string closed_file_;  // "" where it was open when it was opened
  sqlite::Database db_;
  sqlite::Statement select_;
};

}  // namespace sandglass::rows
