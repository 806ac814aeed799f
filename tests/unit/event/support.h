// What the tests of this folder share: events, journals, the log as text.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/log.h"
#include "event/journal.h"
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

// While it lives, log lines go here: "<category>: <text>\n".
class Logged {
 public:
  Logged() {
    log::show_categories({"all"});
    log::replace_sink([this](log::Level, std::string_view category, std::string_view text) {
      std::lock_guard lock(mutex_);
      text_.append(category).append(": ").append(text) += '\n';
    });
  }
  ~Logged() {
    log::replace_sink(nullptr);
    log::show_categories({});
  }
  std::string text() const {
    std::lock_guard lock(mutex_);
    return text_;
  }
  size_t count(const std::string& what) const {
    const std::string all = text();
    size_t found = 0;
    for (size_t at = all.find(what); at != std::string::npos; at = all.find(what, at + 1)) found++;
    return found;
  }

 private:
  mutable std::mutex mutex_;
  std::string text_;
};

}  // namespace sandglass::testing
