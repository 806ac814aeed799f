#include "sandbox/state.h"

namespace sandglass::sandbox {
namespace {

struct Row {
  State from;
  Trigger trigger;
  State to;
};

using enum State;

constexpr Row kTable[] = {
    {absent, Trigger::ensure, resolving},
    {failed, Trigger::ensure, resolving},
    {lost, Trigger::ensure, resolving},

    {resolving, Trigger::live, attaching},
    {resolving, Trigger::snapshot_found, restoring},
    {resolving, Trigger::none_found, creating},
    {resolving, Trigger::error, failed},

    {attaching, Trigger::gone, resolving},
    {attaching, Trigger::ok, arming},
    {attaching, Trigger::error, failed},

    {restoring, Trigger::ok, preparing},
    {restoring, Trigger::error, failed},
    {creating, Trigger::ok, preparing},
    {creating, Trigger::error, failed},

    {preparing, Trigger::ok, arming},
    {preparing, Trigger::ok_image, imaging},
    {preparing, Trigger::error, failed},

    {imaging, Trigger::ok, arming},
    {imaging, Trigger::error, arming},  // logged; a missing image only costs time later

    {arming, Trigger::ok, ready},
    {arming, Trigger::error, failed},

    {ready, Trigger::snapshot, snapshotting},
    {ready, Trigger::provider_gone, lost},
    {snapshotting, Trigger::ok, ready},
    {snapshotting, Trigger::error, ready},
    {snapshotting, Trigger::provider_gone, lost},

    {resolving, Trigger::destroy, draining},
    {attaching, Trigger::destroy, draining},
    {restoring, Trigger::destroy, draining},
    {creating, Trigger::destroy, draining},
    {preparing, Trigger::destroy, draining},
    {imaging, Trigger::destroy, draining},
    {arming, Trigger::destroy, draining},
    {ready, Trigger::destroy, draining},
    {snapshotting, Trigger::destroy, draining},
    {lost, Trigger::destroy, draining},
    {failed, Trigger::destroy, destroying},  // what create() left half made

    {draining, Trigger::drained, destroying},
    {destroying, Trigger::ok, destroyed},
    {destroying, Trigger::error, destroying},  // tried again
};

constexpr std::string_view kStateNames[kStates] = {
    "absent",    "resolving",  "attaching", "restoring", "creating",
    "preparing", "imaging",    "arming",    "ready",     "snapshotting",
    "draining",  "destroying", "destroyed", "failed",    "lost"};

constexpr std::string_view kTriggerNames[kTriggers] = {
    "ensure",   "live",  "snapshot_found", "none_found",    "gone",    "ok",
    "ok_image", "error", "snapshot",       "provider_gone", "destroy", "drained"};

constexpr bool one_row_each() {
  for (const Row& a : kTable)
    for (const Row& b : kTable)
      if (&a != &b && a.from == b.from && a.trigger == b.trigger) return false;
  return true;
}
static_assert(one_row_each(), "a state and a trigger lead to one state");

}  // namespace

std::string_view name_of(State state) {
  return kStateNames[static_cast<int>(state)];
}
std::string_view name_of(Trigger trigger) {
  return kTriggerNames[static_cast<int>(trigger)];
}

std::optional<State> next(State state, Trigger trigger) {
  for (const Row& row : kTable)
    if (row.from == state && row.trigger == trigger) return row.to;
  return std::nullopt;
}

std::string diagram() {
  std::string out = "stateDiagram-v2\n    [*] --> absent\n";
  for (const Row& row : kTable) {
    out += "    ";
    out.append(name_of(row.from)).append(" --> ").append(name_of(row.to));
    out.append(": ").append(name_of(row.trigger)) += '\n';
  }
  return out + "    destroyed --> [*]\n";
}

}  // namespace sandglass::sandbox
