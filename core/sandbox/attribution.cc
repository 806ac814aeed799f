#include "sandbox/attribution.h"

#include <algorithm>

#include "base/json.h"
#include "base/log.h"

namespace sandglass::sandbox {

void Attribution::begin() {
  auto processes = proc::Processes::shared();
  log::debug("sandbox", "writers are told by " + processes->reason());
  std::lock_guard lock(mutex_);
  processes_ = std::move(processes);
}

std::string Attribution::source() const {
  std::lock_guard lock(mutex_);
  return processes_ ? processes_->reason() : "";
}

void Attribution::run_begins(const std::string& run_id) {
  std::lock_guard lock(mutex_);
  active_.push_back(run_id);
}

// Its label stays: what it left running is still its own.
void Attribution::run_ends(const std::string& run_id) {
  std::lock_guard lock(mutex_);
  std::erase(active_, run_id);
}

void Attribution::run_process(const std::string& run_id, int32_t pid) {
  std::lock_guard lock(mutex_);
  mark(pid, {ActorKind::run, run_id}, run_labels_[run_id]);
}

void Attribution::hook_process(const std::string& hook, int32_t pid) {
  std::lock_guard lock(mutex_);
  mark(pid, {ActorKind::hook, {}}, hook_labels_[hook]);
}

void Attribution::mark(int32_t pid, const Owner& owner, uint32_t& label) {
  if (!processes_ || pid <= 0) return;
  if (label == 0) {
    label = processes_->new_label();
    owners_[label] = owner;
  }
  processes_->mark(pid, label);
}

Attribution::Owner Attribution::owner_of(const std::optional<proc::Process>& process) const {
  if (!process) return {ActorKind::unattributed, {}};
  if (process->label == proc::Processes::kHost) return {ActorKind::host, {}};
  const auto known = owners_.find(process->label);
  return known == owners_.end() ? Owner{ActorKind::outside, {}} : known->second;
}

static std::string list_of(const std::vector<std::string>& runs) {
  JsonWriter w;
  w.open('[');
  for (const std::string& run : runs) w.value(run);
  w.close(']');
  return w.take();
}

void Attribution::settle(const watch::FileChange& change, Event& event) const {
  std::lock_guard lock(mutex_);
  if (!processes_) {
    event.actor.pid = change.writers.last();
    return;
  }
  const watch::Writers& writers = change.writers;
  bool doubtful = writers.empty() || writers.more;
  bool several = false;
  Owner first;
  std::vector<std::string> candidates;
  std::optional<proc::Process> last;
  for (size_t i = 0; i < writers.count; ++i) {
    last = processes_->find(writers.pids[i], change.seen_ns);
    const Owner owner = owner_of(last);
    doubtful |= owner.kind == ActorKind::unattributed;
    several |= i > 0 && owner != first;
    if (i == 0) first = owner;
    if (!owner.run_id.empty() &&
        std::find(candidates.begin(), candidates.end(), owner.run_id) == candidates.end())
      candidates.push_back(owner.run_id);
  }
  if (!doubtful && !several) {
    event.actor = {first.kind, last->pid, last->command};
    event.run_id = first.run_id;
    return;
  }
  if (doubtful)
    for (const std::string& run : active_)
      if (std::find(candidates.begin(), candidates.end(), run) == candidates.end())
        candidates.push_back(run);
  event.actor.kind = ActorKind::unattributed;
  event.json = list_of(candidates);
}

}  // namespace sandglass::sandbox
