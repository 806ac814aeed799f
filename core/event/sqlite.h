// SQLite behind RAII, for journal files only. One connection belongs to one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace sandglass::sqlite {

class Statement {
 public:
  Statement() = default;
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
  Statement(Statement&& other) noexcept : statement_(other.statement_) { other.statement_ = nullptr; }
  Statement& operator=(Statement&& other) noexcept;
  ~Statement();

  void bind(int index, int64_t value);
  // The bytes must stay until reset(). Empty text is stored as empty, not as null.
  void bind_text(int index, std::string_view text);
  void bind_blob(int index, std::string_view bytes);
  // SQLITE_ROW, SQLITE_DONE, or an error code.
  int step();
  void reset();
  int64_t integer(int column) const;
  std::string text(int column) const;  // of a text or a blob

 private:
  sqlite3_stmt* statement_ = nullptr;
};

class Database {
 public:
  enum class Mode { read_only, create };
  static Result<Database> open(const std::string& file, Mode mode);
  Database(Database&& other) noexcept : db_(other.db_) { other.db_ = nullptr; }
  Database& operator=(Database&& other) noexcept;
  ~Database();

  Status run(const char* sql);
  Result<Statement> prepare(const char* sql);
  std::string message() const;

 private:
  explicit Database(sqlite3* db) : db_(db) {}
  sqlite3* db_ = nullptr;
};

}  // namespace sandglass::sqlite
