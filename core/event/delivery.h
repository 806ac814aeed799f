// One event on its way to one handler: the ABI's view of it, and the content it was asked for.
#pragma once

#include <sandglass/plugin.h>

#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <string>

#include "event/dispatch.h"

namespace sandglass {

// The sg_event handed to a plugin is the first member, so the content service finds the rest.
// Counted: the dispatcher holds one reference, each retain() another.
class Delivery {
 public:
  static Delivery* make(const Origin& origin, EventPtr event, const ContentSource& content);
  static Delivery* of(const sg_event* event) {
    return reinterpret_cast<Delivery*>(const_cast<sg_event*>(event));
  }

  const sg_event* abi() const { return &abi_; }
  // Reads it the first time, then remembers. Any thread.
  void content(uint32_t which, sg_content* out);
  void retain() { references_++; }
  void release();

 private:
  Delivery(const Origin& origin, EventPtr event, const ContentSource& content);
  struct Remembered {
    git::Piece piece;
    std::string sha256;
  };
  const Remembered& remembered(uint32_t which);

  sg_event abi_{};  // first
  EventPtr event_;
  ContentSource content_;
  std::string id_, sandbox_id_, path_;
  std::mutex mutex_;
  std::array<std::optional<Remembered>, 6> pieces_;  // before, after, diff; then the same for export
  std::atomic<uint32_t> references_{1};
};

}  // namespace sandglass
