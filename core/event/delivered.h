// One event on its way to one handler: the ABI's view of it, and the content it was asked for.
#pragma once

#include <sandglass/plugin.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "event/dispatch.h"

namespace sandglass {

// Where the events of one handler get their content, and how much of it they may hold in memory
// together. Shared by the handler's lane and by every event that a plugin keeps. Any thread.
class ContentDesk {
 public:
  static constexpr size_t kBudget = 32 << 20;

  explicit ContentDesk(ContentSource source) : source_(std::move(source)) {}

  // Nothing is read any more: the lane is over, or its thread was left behind.
  void close() { closed_ = true; }
  // An empty answer where there is no source or it is closed.
  std::optional<git::Piece> read(const Event& event, git::Which which, bool for_export) const;

  // Room for `bytes` of an event that holds `own` already. Always granted while no other event
  // holds anything, so that a handler that takes one event at a time is never refused.
  bool take(size_t bytes, size_t own);
  void give_back(size_t bytes) { used_ -= bytes; }
  // Whether take() refused something since the last call: smaller batches help.
  bool was_tight() { return tight_.exchange(false); }

 private:
  const ContentSource source_;
  std::atomic<bool> closed_{false}, tight_{false};
  std::atomic<size_t> used_{0};
};

// The sg_event handed to a plugin is its base, so the content service finds the rest. Counted: the
// lane holds one reference, each retain() another. All texts live as long as it does.
class DeliveredEvent : public sg_event {
 public:
  static DeliveredEvent* make(const Origin& origin, EventPtr event,
                              std::shared_ptr<ContentDesk> desk);
  static DeliveredEvent& of(const sg_event* event) {
    return *static_cast<DeliveredEvent*>(const_cast<sg_event*>(event));
  }
  DeliveredEvent(const DeliveredEvent&) = delete;
  DeliveredEvent& operator=(const DeliveredEvent&) = delete;

  const Event& event() const { return *event_; }
  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  void release();
  // It is offered once more (SG_EVF_REPLAY). On the handler's thread, while no call runs.
  void mark_replay() { flags |= SG_EVF_REPLAY; }

  // Reads it the first time, then remembers; what is refused for want of room is
  // SG_CONTENT_TOO_LARGE without data and may be asked again. Within `call`, on its thread.
  void content(const sg_call* call, uint32_t which, sg_content* out);
  // Appends it to `out` without remembering. What the source has cut is SG_E_UNSUPPORTED.
  sg_status stream(const sg_call* call, uint32_t which, sg_out* out);

 private:
  DeliveredEvent(const Origin& origin, EventPtr event, std::shared_ptr<ContentDesk> desk);
  ~DeliveredEvent();
  git::Piece read(const sg_call* call, uint32_t which) const;

  struct Remembered {
    git::Piece piece;
    std::string sha256;
  };

  const EventPtr event_;
  const std::shared_ptr<ContentDesk> desk_;
  const std::string id_, sandbox_id_, path_;
  std::mutex mutex_;                               // the two below
  std::array<std::optional<Remembered>, 6> kept_;  // before, after, diff; then the same for export
  size_t held_ = 0;                                // bytes of kept_
  std::atomic<uint32_t> references_{1};
};

}  // namespace sandglass
