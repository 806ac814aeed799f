// Who wrote (rule W11): from the processes that a watcher told to a run, a hook, the host, or
// somebody outside. Never a guess: what does not follow from who started whom is `unattributed`.
//
// Any thread. Costs nothing until begin(): without a watcher that tells writers an event's actor is
// unknown.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "event/event.h"
#include "proc/processes.h"
#include "watch/change.h"

namespace sandglass::sandbox {

class Attribution {
 public:
  // From now on the watcher tells writers: processes are followed.
  void begin();
  // Where the processes are known from ("bpf", ...), and why; empty before begin().
  std::string source() const;

  // A run is active from before its command starts until what it wrote was journaled. While it is,
  // it is a candidate for what nobody can be found for.
  void run_begins(const std::string& run_id);
  void run_ends(const std::string& run_id);
  // Processes of a run, of a hook: with all they start, also after the run. Before the process does
  // anything.
  void run_process(const std::string& run_id, int32_t pid);
  void hook_process(const std::string& hook, int32_t pid);

  // Fills in the event's actor, run_id, and, where it is unattributed, the candidates (json).
  void settle(const watch::FileChange& change, Event& event) const;

 private:
  struct Owner {
    ActorKind kind = ActorKind::unknown;
    std::string run_id;
    bool operator==(const Owner&) const = default;
  };
  void mark(int32_t pid, const Owner& owner, uint32_t& label);
  Owner owner_of(const std::optional<proc::Process>& process) const;

  mutable std::mutex mutex_;
  std::shared_ptr<proc::Processes> processes_;
  std::unordered_map<uint32_t, Owner> owners_;  // by label
  std::map<std::string, uint32_t> run_labels_, hook_labels_;
  std::vector<std::string> active_;
};

}  // namespace sandglass::sandbox
