#include "event/sqlite.h"

#include <sqlite3.h>

#include <cstdio>
#include <filesystem>
#include <utility>

#include "base/text.h"

namespace sandglass::sqlite {
namespace {

constexpr int kBusyMs = 5'000;
static_assert(kRow == SQLITE_ROW && kDone == SQLITE_DONE);

Fault fault_of(int code) {
  switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return Fault::corrupt;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Fault::busy;
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_READONLY:
      return Fault::denied;
    case SQLITE_NOMEM:
      return Fault::no_memory;
    default:
      return Fault::failed;
  }
}

// SQLITE_OPEN_NOFOLLOW refuses links anywhere in a path, but a home may well lie behind one.
std::string with_real_folder(const std::string& file) {
  const std::filesystem::path path(file);
  std::error_code failed;
  const auto folder =
      std::filesystem::canonical(path.has_parent_path() ? path.parent_path() : ".", failed);
  return failed ? file : (folder / path.filename()).string();
}

// "file:/a%20b?immutable=1"
std::string immutable_uri(const std::string& path) {
  std::string out = "file:";
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '/' || c == '.' || c == '-' || c == '_';
    char escaped[4];
    std::snprintf(escaped, sizeof escaped, "%%%02x", static_cast<unsigned char>(c));
    out += plain ? std::string(1, c) : escaped;
  }
  return out + "?immutable=1";
}

}  // namespace

Statement& Statement::operator=(Statement&& other) noexcept {
  std::swap(statement_, other.statement_);
  return *this;
}
Statement::~Statement() {
  sqlite3_finalize(statement_);
}

void Statement::bind(int index, int64_t value) {
  sqlite3_bind_int64(statement_, index, value);
}
void Statement::bind_text(int index, std::string_view text) {
  sqlite3_bind_text64(statement_, index, text.data() ? text.data() : "", text.size(), SQLITE_STATIC,
                      SQLITE_UTF8);
}
void Statement::bind_blob(int index, std::string_view bytes) {
  sqlite3_bind_blob64(statement_, index, bytes.data() ? bytes.data() : "", bytes.size(),
                      SQLITE_STATIC);
}
int Statement::step() {
  return sqlite3_step(statement_);
}
void Statement::reset() {
  sqlite3_reset(statement_);
}
int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}
std::string Statement::text(int column) const {
  const void* data = sqlite3_column_blob(statement_, column);
  const auto size = static_cast<size_t>(sqlite3_column_bytes(statement_, column));
  return data ? std::string(static_cast<const char*>(data), size) : std::string();
}

Result<Database> Database::open(const std::string& file, Mode mode) {
  sqlite3* db = nullptr;
  const int flags =
      SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | (mode == Mode::closed ? SQLITE_OPEN_URI : 0) |
      (mode == Mode::create ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY);
  const std::string real = with_real_folder(file);
  const int code = sqlite3_open_v2((mode == Mode::closed ? immutable_uri(real) : real).c_str(), &db,
                                   flags, nullptr);
  Database out(db);
  if (code == SQLITE_OK) {
    sqlite3_busy_timeout(db, kBusyMs);
    return out;
  }
  std::error_code ignored;
  const bool there = std::filesystem::exists(std::filesystem::symlink_status(file, ignored));
  return fail(there ? fault_of(code) : Fault::not_found,
              "cannot open the journal " + shown(file) + ": " +
                  (there ? sqlite3_errstr(code) : "there is no such file"));
}

Database& Database::operator=(Database&& other) noexcept {
  std::swap(db_, other.db_);
  return *this;
}
// _v2: a statement that is destroyed after it keeps it alive, whatever the order of members.
Database::~Database() {
  sqlite3_close_v2(db_);
}

Error Database::error() const {
  return {fault_of(sqlite3_extended_errcode(db_)), sqlite3_errmsg(db_)};
}

Status Database::run(const char* sql) {
  if (sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return tl::unexpected(error());
}

Result<Statement> Database::prepare(const char* sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v3(db_, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr) != SQLITE_OK)
    return tl::unexpected(error());
  return Statement(statement);
}

Result<int64_t> Database::integer(const char* sql) {
  auto statement = prepare(sql);
  if (!statement) return tl::unexpected(statement.error());
  if (statement->step() != SQLITE_ROW) return tl::unexpected(error());
  return statement->integer(0);
}

}  // namespace sandglass::sqlite
