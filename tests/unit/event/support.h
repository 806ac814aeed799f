// What the tests of this folder share: events, journals, the log as text.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "event/journal.h"
#include "support/logged.h"
#include "support/temp_dir.h"

namespace sandglass::testing {

inline Event file_event(const std::string& path, EventKind kind = EventKind::file_change) {
  Event e;
  e.kind = kind;
  e.topic = "sandbox.file";
  e.path = path;
  e.time_ns = 5;
  return e;
}

inline std::unique_ptr<Journal> open_journal(const std::string& file,
                                             Journal::Options options = {}) {
  auto journal = Journal::open(file, {"box-1", "/workspace"}, options);
  EXPECT_TRUE(journal) << journal.error().text;
  return journal ? std::move(*journal) : nullptr;
}

inline void append_many(Journal& journal, int count) {
  for (int i = 0; i < count; i++) journal.append(file_event("f" + std::to_string(i)));
}

// Everything up to `until`, through a cursor.
inline std::vector<EventPtr> read_until(Cursor& cursor, uint64_t until, size_t page = 100) {
  std::vector<EventPtr> out;
  while (cursor.position() < until) {
    const auto events = cursor.next(page, 10'000);
    if (events.empty()) {
      ADD_FAILURE() << "no event after " << cursor.position();
      break;
    }
    out.insert(out.end(), events.begin(), events.end());
  }
  return out;
}

inline void expect_gapless(const std::vector<EventPtr>& events, uint64_t first, size_t count) {
  ASSERT_EQ(events.size(), count);
  for (size_t i = 0; i < count; i++) ASSERT_EQ(events[i]->seq, first + i);
}

}  // namespace sandglass::testing
