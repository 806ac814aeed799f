// What is behind an sg_call that the host hands out. Private to this folder.
#pragma once

#include <sandglass/plugin.h>

#include <atomic>
#include <string>

#include "base/fd.h"
#include "plugin/call.h"

namespace sandglass::plugin {

// Only `cancelled` and the descriptor are touched by other threads than the call's own.
struct Call::State : sg_call {
  static State& of(sg_call* call) { return *static_cast<State*>(call); }
  static const State& of(const sg_call* call) { return *static_cast<const State*>(call); }

  bool stopped() const;  // cancelled, or the one it is within was
  bool over() const;     // that, or past the deadline
  void cancel_now();     // any thread

  Options options;
  Fd cancel;
  std::atomic<bool> is_cancelled{false};

  // The last host->fail().
  sg_status status = SG_OK;
  uint32_t flags = 0;
  std::string text;

  uint64_t progress_ns = 0;  // when a line was shown last
};

inline std::string_view view(sg_str text) {
  return text.len ? std::string_view(text.data, text.len) : std::string_view();
}
inline std::string_view view(sg_bytes bytes) {
  return bytes.len ? std::string_view(reinterpret_cast<const char*>(bytes.data), bytes.len)
                   : std::string_view();
}
inline sg_str str(std::string_view text) {
  return {text.data(), text.size()};
}

inline sg_bytes bytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// The Fault of a status; one this host does not know is Fault::failed.
Fault fault_of(sg_status status);
// The status that tells a plugin of an Error.
sg_status status_of(Fault fault);

}  // namespace sandglass::plugin
