// Events as rows of a journal file.
//
//     user_version 1
//     events(seq INTEGER PRIMARY KEY, time_ns, kind, flags, run TEXT, path BLOB, topic TEXT, json TEXT,
//            actor INTEGER, actor_pid INTEGER, actor_command TEXT)
#pragma once

#include "base/result.h"
#include "event/event.h"
#include "event/sqlite.h"

namespace sandglass::rows {

inline constexpr int kSchema = 1;

// Makes the tables or migrates an older file forward; a newer one is refused.
Status prepare(sqlite::Database& db, const std::string& file);
Status check_schema(sqlite::Database& db, const std::string& file);

Result<sqlite::Statement> insert_statement(sqlite::Database& db);
// SQLITE_DONE, or an error code.
int insert(sqlite::Statement& statement, const Event& event);

// Selects what lies after ?1, at most ?2 rows.
Result<sqlite::Statement> select_statement(sqlite::Database& db);
// Empty at the end; an error is logged by the caller through the returned status.
Result<std::vector<Event>> select(sqlite::Statement& statement, uint64_t after, size_t limit);

Result<int64_t> integer(sqlite::Database& db, const char* sql);

}  // namespace sandglass::rows
