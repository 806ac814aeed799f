// One fact on the bus.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sandglass {

// The numbers are SG_EV_* of the plugin ABI and stand in journals: never change one.
enum class EventKind : uint32_t {
  file_create = 0,
  file_change = 1,
  file_delete = 2,
  ready = 3,
  error = 4,
  destroy = 5,
  run_start = 6,
  run_end = 7,
  rescan = 8,
  custom = 9,
  state = 10,  // a lifecycle transition; json: {"from","event","to"}
};

constexpr bool is_file(EventKind kind) {
  return kind <= EventKind::file_delete;
}
// "create", "change", "delete", "ready", ...
std::string_view name_of(EventKind kind);

enum EventFlag : uint32_t {  // SG_EVF_*
  event_replay = 1,
  event_symlink = 2,
  event_meta_only = 4,
};

// Who did it, and how sure that is (SG_ACTOR_*).
enum class ActorKind : uint32_t {
  unknown = 0,
  run = 1,
  hook = 2,
  host = 3,
  outside = 4,
  unattributed = 5
};
std::string_view name_of(ActorKind kind);

struct Actor {
  ActorKind kind = ActorKind::unknown;
  int32_t pid = 0;      // on this machine, or 0
  std::string command;  // of the writer, or empty
};

struct Event {
  uint64_t seq = 0;  // given by the journal, grows by one per sandbox, first is 1
  EventKind kind = EventKind::custom;
  uint32_t flags = 0;
  int64_t time_ns = 0;  // since 1970
  int64_t seen_ns = 0;  // mono_ns() when the kernel told; 0 unknown; not stored
  std::string run_id;
  std::string path;   // bytes, below the workspace root; file events only
  std::string topic;  // "sandbox.file", "sandbox.ready", ...
  std::string json;   // details of lifecycle and custom events, or empty; of a file event that is
                      // unattributed: the array of candidate run ids. One line (details.h)
  Actor actor;
};
using EventPtr = std::shared_ptr<const Event>;

// What all events of one sandbox share.
struct Origin {
  std::string sandbox_id;
  std::string root = "/workspace";  // the workspace inside the sandbox
};

// "/workspace/src/a.c" (rule E2), bytes; the root itself for an event without a path.
std::string absolute_path(const Origin& origin, const Event& event);

}  // namespace sandglass
