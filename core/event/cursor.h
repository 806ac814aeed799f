// A reader of a journal: out of the ring where it can, out of the file where it is behind.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "event/journal.h"
#include "event/ring.h"
#include "event/rows.h"

namespace sandglass {

class RingCursor : public Cursor {
 public:
  RingCursor(std::shared_ptr<Ring> ring, std::string file, uint64_t after);

  std::vector<EventPtr> next(size_t max, int timeout_ms) override;
  uint64_t position() const override { return position_; }
  void wake() override { ring_->wake(bell_); }

 private:
  std::vector<EventPtr> read_rows(size_t max);
  void say_unreadable(const Error& error);
  void mark_replays(std::vector<EventPtr>& events) const;

  const std::shared_ptr<Ring> ring_;
  const std::string file_;
  const uint64_t replay_until_;  // events up to here were there before this reader
  uint64_t position_;
  Ring::Bell bell_;
  std::optional<rows::Reader> reader_;  // open only while behind
  bool unreadable_ = false;             // was said
};

}  // namespace sandglass
