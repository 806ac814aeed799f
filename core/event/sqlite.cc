#include "event/sqlite.h"

#include <sqlite3.h>

#include <utility>

#include "base/text.h"

namespace sandglass::sqlite {

Statement& Statement::operator=(Statement&& other) noexcept {
  std::swap(statement_, other.statement_);
  return *this;
}
Statement::~Statement() { sqlite3_finalize(statement_); }

void Statement::bind(int index, int64_t value) { sqlite3_bind_int64(statement_, index, value); }
void Statement::bind_text(int index, std::string_view text) {
  sqlite3_bind_text64(statement_, index, text.data() ? text.data() : "", text.size(), SQLITE_STATIC, SQLITE_UTF8);
}
void Statement::bind_blob(int index, std::string_view bytes) {
  sqlite3_bind_blob64(statement_, index, bytes.data() ? bytes.data() : "", bytes.size(), SQLITE_STATIC);
}
int Statement::step() { return sqlite3_step(statement_); }
void Statement::reset() { sqlite3_reset(statement_); }
int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_, column); }
std::string Statement::text(int column) const {
  const void* data = sqlite3_column_blob(statement_, column);
  const auto size = static_cast<size_t>(sqlite3_column_bytes(statement_, column));
  return data ? std::string(static_cast<const char*>(data), size) : std::string();
}

Result<Database> Database::open(const std::string& file, Mode mode) {
  sqlite3* db = nullptr;
  const int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW |
                    (mode == Mode::create ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READWRITE);
  const int code = sqlite3_open_v2(file.c_str(), &db, flags, nullptr);
  Database out(db);
  if (code != SQLITE_OK)
    return fail(Fault::failed, "cannot open the journal " + shown(file) + ": " +
                                   (db ? sqlite3_errmsg(db) : sqlite3_errstr(code)));
  sqlite3_busy_timeout(db, 5'000);
  return out;
}

Database& Database::operator=(Database&& other) noexcept {
  std::swap(db_, other.db_);
  return *this;
}
Database::~Database() { sqlite3_close(db_); }

std::string Database::message() const { return sqlite3_errmsg(db_); }

Status Database::run(const char* sql) {
  if (sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return fail(Fault::failed, message());
}

Result<Statement> Database::prepare(const char* sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v3(db_, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr) != SQLITE_OK)
    return fail(Fault::failed, message());
  return Statement(statement);
}

}  // namespace sandglass::sqlite
