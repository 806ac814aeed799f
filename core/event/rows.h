// Events as rows of a journal file.
//
//     user_version 1
//     events(seq INTEGER PRIMARY KEY, time_ns, kind, flags, run TEXT, path BLOB, topic TEXT, json
//     TEXT,
//            actor INTEGER, actor_pid INTEGER, actor_command TEXT)
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "event/event.h"
#include "event/sqlite.h"

namespace sandglass::rows {

inline constexpr int kSchema = 1;

// Puts events into a file. Belongs to one thread at a time.
class Writer {
 public:
  // Makes the tables or migrates an older file forward; a newer one is refused (rule P2). The file
  // is private to its user.
  static Result<Writer> open(const std::string& file);

  uint64_t last() const { return last_; }  // seq of the newest stored event, 0 for none
  // All of them in one transaction, or none. After a failure the same events may be written again:
  // what the failed attempt had stored nevertheless is not stored twice.
  Status write(std::span<const EventPtr> events);

 private:
  Writer(sqlite::Database db, uint64_t last) : db_(std::move(db)), last_(last) {}
  Status prepare();
  Status recover();
  Status insert_all(std::span<const EventPtr> events);
  int insert(const Event& event);

  sqlite::Database db_;
  sqlite::Statement begin_, insert_, commit_;
  uint64_t last_;
  bool unsure_ = false;  // the last attempt failed: ask the file what it holds
};

// Reads a file that perhaps another process writes. Belongs to one thread at a time.
class Reader {
 public:
  static Result<Reader> open(const std::string& file);

  // Events with after < seq <= until, in order: at most `limit`, and no further ones once their
  // texts take 64 MiB. Empty where there are none.
  Result<std::vector<Event>> read(uint64_t after, uint64_t until, size_t limit);
  sqlite::Database& database() { return db_; }

 private:
  Reader(sqlite::Database db, sqlite::Statement select)
      : db_(std::move(db)), select_(std::move(select)) {}
  sqlite::Database db_;
  sqlite::Statement select_;
};

}  // namespace sandglass::rows
