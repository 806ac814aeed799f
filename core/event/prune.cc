// Retention of one journal (rule P2).
#include <algorithm>

#include "base/text.h"
#include "event/journal.h"
#include "event/rows.h"

namespace sandglass {
namespace {

Result<uint64_t> number(sqlite::Database& db, const char* sql) {
  auto n = db.integer(sql);
  if (!n) return tl::unexpected(n.error());
  return static_cast<uint64_t>(std::max<int64_t>(*n, 0));
}

// The oldest event that has to stay: the newest state, and what some durable subscriber still waits
// for.
Result<uint64_t> oldest_needed(sqlite::Database& db) {
  return number(db,
                "SELECT min(coalesce((SELECT max(seq) FROM events WHERE kind = 10), 0),"
                " coalesce((SELECT min(seq) + 1 FROM places), 9223372036854775807))");
}

Result<uint64_t> oldest_since(sqlite::Database& db, int64_t since_ns) {
  auto select = db.prepare(
      "SELECT coalesce(min(seq), 9223372036854775807) FROM events"
      " WHERE time_ns >= ?");
  if (!select) return tl::unexpected(select.error());
  select->bind(1, since_ns);
  if (select->step() != sqlite::kRow) return tl::unexpected(db.error());
  return static_cast<uint64_t>(select->integer(0));
}

// The oldest event that may stay when events are taken until about `most` bytes are left: they are
// taken to be of one size.
Result<uint64_t> oldest_that_fits(sqlite::Database& db, uint64_t most) {
  auto pages = number(db, "PRAGMA page_count");
  auto page = number(db, "PRAGMA page_size");
  auto first = number(db, "SELECT coalesce(min(seq), 0) FROM events");
  auto count = number(db, "SELECT count(*) FROM events");
  for (const auto* one : {&pages, &page, &first, &count})
    if (!*one) return tl::unexpected(one->error());
  const uint64_t bytes = *pages * *page;
  if (bytes <= most) return *first;
  const double share = static_cast<double>(bytes - most) / static_cast<double>(bytes);
  return *first + static_cast<uint64_t>(share * static_cast<double>(*count)) + 1;
}

Result<uint64_t> take_out(sqlite::Database& db, uint64_t before) {
  auto remove = db.prepare("DELETE FROM events WHERE seq < ?");
  if (!remove) return tl::unexpected(remove.error());
  remove->bind(1, static_cast<int64_t>(std::min<uint64_t>(before, INT64_MAX)));
  if (remove->step() != sqlite::kDone) return tl::unexpected(db.error());
  remove->reset();
  auto count = number(db, "SELECT changes()");
  if (!count || *count == 0) return count;
  if (Status smaller = db.run("VACUUM"); !smaller) return tl::unexpected(smaller.error());
  return count;
}

}  // namespace

Result<uint64_t> prune_journal(const std::string& file, int64_t before_ns, uint64_t most_bytes) {
  auto writer = rows::Writer::open(file);  // migrates an older file first
  if (!writer) return tl::unexpected(writer.error());
  sqlite::Database& db = writer->database();
  auto needed = oldest_needed(db);
  auto young = oldest_since(db, before_ns);
  auto fits = oldest_that_fits(db, most_bytes);
  for (const auto* one : {&needed, &young, &fits})
    if (!*one) return tl::unexpected(one->error());
  auto taken = take_out(db, std::min(*needed, std::max(*young, *fits)));
  if (!taken)
    return fail(taken.error().fault,
                "cannot make the journal " + shown(file) + " smaller: " + taken.error().text);
  return taken;
}

}  // namespace sandglass
