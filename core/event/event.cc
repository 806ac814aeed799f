#include "event/event.h"

#include <array>

namespace sandglass {

std::string_view name_of(EventKind kind) {
  static constexpr std::array<std::string_view, 11> kNames = {
      "create",    "change",  "delete", "ready",  "error", "destroy",
      "run_start", "run_end", "rescan", "custom", "state"};
  const auto i = static_cast<size_t>(kind);
  return i < kNames.size() ? kNames[i] : "unknown";
}

std::string_view name_of(ActorKind kind) {
  static constexpr std::array<std::string_view, 6> kNames = {"unknown", "run",     "hook",
                                                             "host",    "outside", "unattributed"};
  const auto i = static_cast<size_t>(kind);
  return i < kNames.size() ? kNames[i] : "unknown";
}

std::string absolute_path(const Origin& origin, const Event& event) {
  std::string out = origin.root;
  while (out.size() > 1 && out.back() == '/') out.pop_back();
  if (event.path.empty()) return out;
  if (out.empty() || out.back() != '/') out += '/';
  return out += event.path;
}

}  // namespace sandglass
