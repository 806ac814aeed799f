#include "event/cursor.h"

#include <algorithm>

#include "base/log.h"
#include "base/text.h"

namespace sandglass {

constexpr int kPauseMs = 200;  // before rows that could not be read are tried again

RingCursor::RingCursor(std::shared_ptr<Ring> ring, std::string file, uint64_t after)
    : ring_(std::move(ring)),
      file_(std::move(file)),
      replay_until_(ring_->last()),
      position_(after) {}

std::vector<EventPtr> RingCursor::next(size_t max, int timeout_ms) {
  std::vector<EventPtr> out;
  switch (ring_->next(position_, max, timeout_ms, bell_, out)) {
    case Ring::Got::nothing:
      return out;
    case Ring::Got::events:
      reader_.reset();
      break;
    case Ring::Got::behind:
      out = read_rows(max);
      break;
  }
  if (out.empty()) {
    ring_->pause(timeout_ms < 0 ? kPauseMs : std::min(timeout_ms, kPauseMs), bell_);
    return out;
  }
  if (position_ < replay_until_) mark_replays(out);
  position_ = out.back()->seq;
  return out;
}

std::vector<EventPtr> RingCursor::read_rows(size_t max) {
  std::vector<EventPtr> out;
  if (!reader_) {
    auto opened = rows::Reader::open(file_);
    if (!opened) {
      say_unreadable(opened.error());
      return out;
    }
    reader_.emplace(std::move(*opened));
  }
  auto events = reader_->read(position_, ring_->last(), max);
  if (!events) {
    say_unreadable(events.error());
    reader_.reset();
    return out;
  }
  unreadable_ = false;
  for (Event& event : *events) out.push_back(std::make_shared<const Event>(std::move(event)));
  return out;
}

void RingCursor::say_unreadable(const Error& error) {
  if (!std::exchange(unreadable_, true))
    log::error("events after " + std::to_string(position_) + " cannot be read: " + error.text +
               "; tried again until they can");
}

void RingCursor::mark_replays(std::vector<EventPtr>& events) const {
  for (EventPtr& event : events) {
    if (event->seq > replay_until_) return;
    auto marked = std::make_shared<Event>(*event);
    marked->flags |= event_replay;
    event = std::move(marked);
  }
}

}  // namespace sandglass
