#include "event/event.h"

#include <array>

namespace sandglass {

std::string_view name_of(EventKind kind) {
  static constexpr std::array<std::string_view, 11> kNames = {
      "create", "change", "delete", "ready", "error", "destroy", "run_start", "run_end", "rescan", "custom", "state"};
  const auto i = static_cast<size_t>(kind);
  return i < kNames.size() ? kNames[i] : "unknown";
}

std::string_view name_of(ActorKind kind) {
  static constexpr std::array<std::string_view, 6> kNames = {"unknown", "run", "hook", "host", "outside", "unattributed"};
  const auto i = static_cast<size_t>(kind);
  return i < kNames.size() ? kNames[i] : "unknown";
}

std::string absolute_path(const Origin& origin, const Event& event) {
  return origin.root == "/" ? "/" + event.path : origin.root + "/" + event.path;
}

}  // namespace sandglass
