// SQLite behind RAII, for journal files only. One connection belongs to one thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace sandglass::sqlite {

// What step() says; anything else is an error code.
inline constexpr int kRow = 100, kDone = 101;

// A prepared statement, made once and reused. It must not outlive its Database.
class Statement {
 public:
  Statement() = default;
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
  Statement(Statement&& other) noexcept : statement_(other.statement_) {
    other.statement_ = nullptr;
  }
  Statement& operator=(Statement&& other) noexcept;
  ~Statement();

  void bind(int index, int64_t value);
  // The bytes must stay until reset(). Empty text is stored as empty, not as null.
  void bind_text(int index, std::string_view text);
  void bind_blob(int index, std::string_view bytes);
  // kRow, kDone, or an error code.
  int step();
  void reset();
  int64_t integer(int column) const;
  std::string text(int column) const;  // of a text or a blob

 private:
  sqlite3_stmt* statement_ = nullptr;
};

class Database {
 public:
  // read_only never changes the file, not even at the end of its last reader, but leaves an index
  // (-shm) beside it. closed leaves nothing: it is for a file that nobody writes on meanwhile.
  enum class Mode { read_only, closed, create };
  // The file itself may not be a symbolic link; the folder it lies in may be reached through some.
  static Result<Database> open(const std::string& file, Mode mode);
  Database(Database&& other) noexcept : db_(other.db_) { other.db_ = nullptr; }
  Database& operator=(Database&& other) noexcept;
  ~Database();

  Status run(const char* sql);
  Result<Statement> prepare(const char* sql);
  // The first column of the first row.
  Result<int64_t> integer(const char* sql);
  // What the last call on this connection failed with.
  Error error() const;

 private:
  explicit Database(sqlite3* db) : db_(db) {}
  sqlite3* db_ = nullptr;
};

}  // namespace sandglass::sqlite
