// The lifecycle of one sandbox as a table (rule L1). Pure: no clock, no disk.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace sandglass::sandbox {

enum class State {
  absent,
  resolving,
  attaching,
  restoring,
  creating,
  preparing,
  imaging,
  arming,
  ready,
  snapshotting,
  draining,
  destroying,
  destroyed,
  failed,
  lost,
};
inline constexpr int kStates = 15;

enum class Trigger {
  ensure,          // somebody wants the sandbox
  live,            // an instance of its key runs
  snapshot_found,  // none runs, but a snapshot can be restored
  none_found,      // neither
  gone,            // the instance to attach to has vanished
  ok,              // the step of this state succeeded
  ok_image,        // the same, and the definition wants a snapshot after setup
  error,           // the step of this state failed
  snapshot,        // take a snapshot of a ready sandbox
  provider_gone,   // a ready sandbox vanished by itself
  destroy,         // destroy, cancel or expiry
  drained,         // watcher and hooks are flushed, or their deadline passed
};
inline constexpr int kTriggers = 12;

std::string_view name_of(State state);
std::string_view name_of(Trigger trigger);

// The state that follows, or nothing where the table has no such row.
std::optional<State> next(State state, Trigger trigger);

// The table as a Mermaid state diagram, for the folder's README.
std::string diagram();

}  // namespace sandglass::sandbox
