// From "somebody wants this sandbox" to ready, whatever an earlier process left (rules L4, L5).
#include <algorithm>
#include <set>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "sandbox/hooks.h"
#include "sandbox/key.h"
#include "sandbox/sandbox.h"

namespace sandglass::sandbox {

constexpr int64_t kCallNs = 60'000'000'000;
constexpr size_t kIdDigits = 8, kLongIdDigits = 16;  // of a key in an id

// What the journal of the sandbox says about the process before us.
struct Sandbox::Left {
  bool known = false;  // there was one
  JournalSummary journal;

  // Whether a box may still be there: destroyed is the only end that is sure.
  bool has_box() const {
    return known && !journal.state.empty() && journal.state != name_of(State::destroyed);
  }
};

bool can_go_on(const InstanceRecord& record, const JournalSummary& journal) {
  for (State over : {State::draining, State::destroying, State::destroyed, State::lost})
    if (journal.state == name_of(over)) return false;
  return journal.ready_seq >= record.first_seq;
}

Result<std::unique_ptr<Sandbox>> Sandbox::ensure(const plugin::Registry& registry,
                                                 const Store& store, Settings settings,
                                                 Cancellation& cancel) {
  std::unique_ptr<Sandbox> box(new Sandbox(registry, store, std::move(settings)));
  Left left;
  Status opened = box->open(left);
  if (!opened) {
    box->dispatcher_.reset();
    box->journal_.reset();
    if (!box->held_.lock) return tl::unexpected(opened.error());
    if (left.known)
      store.let_go(std::move(box->held_), false);
    else
      (void)store.remove(std::move(box->held_));
    return tl::unexpected(opened.error());
  }
  box->note_open_run(left.journal.open_run);
  box->drop_old_hooks(left);
  Status done = box->bring_up(left, cancel);
  if (done && cancel.cancelled()) done = fail(Fault::cancelled, "cancelled while starting");
  if (!done) {
    Error error = done.error();
    box->failed(error);
    (void)store.save(box->held_, box->record_);
    if (box->made_box_ || !left.has_box())
      (void)box->destroy();
    else
      (void)box->release();  // what was left may still be there
    return tl::unexpected(std::move(error));
  }
  box->step(Trigger::ok);
  box->say_ready();
  box->watch_for_loss();
  return box;
}

// Everything that can be wrong with the definition shows here, before anything exists.
Status Sandbox::open(Left& left) {
  const config::Definition& d = settings_.definition;
  auto provider = Provider::open(registry_, d.provider);
  if (!provider) return tl::unexpected(provider.error());
  provider_ = std::move(*provider);
  record_.key = key_of(d, settings_.workspace, settings_.thread);
  const std::string stem = stem_of(d, settings_.workspace);
  auto held = record_.key.empty() ? store_.make_instance(stem)
                                  : store_.hold(stem + "-" + record_.key.substr(0, kIdDigits));
  if (!held) return tl::unexpected(held.error());
  held_ = std::move(*held);
  if (auto known = store_.record(held_.id); known) {
    if (known->key != record_.key) {  // two keys that begin alike
      const std::string id = stem + "-" + record_.key.substr(0, kLongIdDigits);
      store_.let_go(std::move(held_), false);
      held = store_.hold(id);
      if (!held) return tl::unexpected(held.error());
      held_ = std::move(*held);
      known = store_.record(id);
    }
    left.known = known.has_value();
    if (known) record_ = std::move(*known);
  }
  if (left.known) {
    auto summary = summarize_journal(store_.journal_file(held_.id));
    if (!summary) return tl::unexpected(summary.error());
    left.journal = std::move(*summary);
  } else {
    record_.id = held_.id;
    record_.name = d.id;
    record_.created_ns = wall_ns();
    record_.directory = record_.workspace = settings_.workspace;
  }
  record_.root = d.root;
  record_.provider = provider_->name();
  record_.definition = d.json;
  record_.redact = d.redact;
  record_.binary_full = d.binary_full;
  record_.keep_alive_ns = d.lifecycle.destroy_on_complete ? 0 : d.lifecycle.keep_alive_ns;
  auto journal = Journal::open(store_.journal_file(record_.id), {record_.id, d.root});
  if (!journal) return tl::unexpected(journal.error());
  journal_ = std::move(*journal);
  return open_hooks();
}

Status Sandbox::open_hooks() {
  const config::Definition& d = settings_.definition;
  auto handlers = make_handlers(registry_, *journal_, attribution_, d.hooks);
  if (!handlers) return tl::unexpected(handlers.error());
  git::ContentOptions options;
  options.redact = d.redact;
  options.binary_full = d.binary_full;
  contents_ = std::make_shared<Contents>(options);
  for (const PastBox& past : record_.past)
    contents_->add(past.first_seq, past.baseline, past.workspace);
  if (!record_.provider_id.empty())
    contents_->add(record_.first_seq, record_.baseline, record_.workspace);
  dispatcher_ = Dispatcher::start(
      *journal_, std::move(*handlers),
      [contents = contents_](const Event& event, git::Which which, bool exported) {
        return contents->get(event, which, exported);
      });
  return {};
}

void Sandbox::note_open_run(const std::string& run) {
  if (run.empty()) return;
  JsonWriter w;
  w.open('{').key("runId").value(run).key("state").value("failed");
  w.key("error").value("sandglass ended before the run did").close('}');
  append(EventKind::run_end, "sandbox.run.end", w.take(), run);
  log::error("run " + run + " of sandbox " + record_.id +
             " was not seen to its end: sandglass was killed, or the machine went down");
}

// Durable hooks that the definition no longer has: what they have not had is said.
void Sandbox::drop_old_hooks(const Left& left) {
  std::set<std::string> wanted;
  for (const config::HookBinding& hook : settings_.definition.hooks)
    if (hook.durable) wanted.insert(hook.name);
  for (const auto& [name, place] : journal_->places()) {
    if (wanted.count(name)) continue;
    journal_->drop_place(name);
    const auto owed = left.journal.owed.find(name);
    if (owed == left.journal.owed.end()) continue;
    JsonWriter w;
    w.open('{').key("hook").value(name).key("undelivered").value(owed->second).close('}');
    append(EventKind::custom, "sandbox.hook.dropped", w.take());
    log::error("the durable hook " + shown(name) + " is no longer defined for sandbox " +
               record_.id + ": " + std::to_string(owed->second) + " events after " +
               std::to_string(place.seq) + " never reached it");
  }
}

Status Sandbox::bring_up(const Left& left, Cancellation& cancel) {
  const config::Lifecycle& wanted = settings_.definition.lifecycle;
  step(Trigger::ensure);
  bool there = left.has_box();
  if (there && record_.provider_id.empty()) {
    if (Status found = find_unrecorded_box(); !found) return found;
    there = !record_.provider_id.empty();
  }
  const bool fresh = left.journal.last_ns + wanted.keep_alive_ns > wall_ns();
  if (there && fresh && wanted.reuse == config::Reuse::thread && can_go_on(record_, left.journal)) {
    bool gone = false;
    if (Status attached = attach(gone); !attached) return attached;
    if (!gone) return arm();
    there = false;
  }
  if (there)
    if (Status ended = end_left_box(fresh ? "left by an earlier process" : "its time was over");
        !ended)
      return ended;
  if (state_ == State::destroyed) {  // the table begins anew
    state_ = State::absent;
    step(Trigger::ensure);
  }
  remember_past();
  record_.provider_id.clear();
  resumed_ = false;
  record_.first_seq = journal_->last_seq() + 1;
  if (Status made = make_box(cancel); !made) return made;
  return arm();
}

Status Sandbox::attach(bool& gone) {
  step(Trigger::live);
  Status resumed = provider_->resume(record_.provider_id, mono_ns() + kCallNs);
  const Fault fault = resumed ? Fault::failed : resumed.error().fault;
  if (!resumed && fault != Fault::not_found && fault != Fault::lost) return resumed;
  if (!resumed) {
    log::info("sandbox " + record_.id + ": its box is gone (" + resumed.error().text +
              "), a new one is made");
    gone = true;
    step(Trigger::gone);
    return {};
  }
  step(Trigger::ok);
  resumed_ = true;
  append(EventKind::rescan, "sandbox.rescan",
         R"({"reason":"nobody watched between the end of the last run and now"})");
  return {};
}

// The way of a box that is not wanted any more: attached, drained, destroyed.
Status Sandbox::end_left_box(const std::string& why) {
  log::debug("sandbox", record_.id + ": destroys the box of before: " + why);
  step(Trigger::live);
  step(Trigger::destroy);
  step(Trigger::drained);
  if (Status done = destroy_box(mono_ns() + kCallNs); !done) {
    state_ = State::resolving;  // where failed() may leave from
    return done;
  }
  step(Trigger::ok);
  JsonWriter w;
  append(EventKind::destroy, "sandbox.destroy",
         w.open('{').key("reason").value(why).close('}').take());
  return {};
}

// The process ended between create() and writing down what it gave: the provider's list knows.
Status Sandbox::find_unrecorded_box() {
  const std::string key = record_.key.empty() ? record_.id : record_.key;
  auto held = provider_->list(store_.owner(), mono_ns() + kCallNs);
  if (!held && held.error().fault == Fault::unsupported) return {};
  if (!held) return tl::unexpected(held.error());
  for (const Held& one : *held)
    if (one.key == key) record_.provider_id = one.id;
  return {};
}

// The baseline of the box before stays known while a durable hook has not had all its events.
void Sandbox::remember_past() {
  if (!record_.provider_id.empty())
    record_.past.push_back({record_.first_seq, record_.workspace, record_.baseline});
  uint64_t needed = UINT64_MAX;
  for (const auto& [name, place] : journal_->places()) needed = std::min(needed, place.seq + 1);
  while (!record_.past.empty()) {
    const uint64_t next =
        record_.past.size() > 1 ? record_.past[1].first_seq : journal_->last_seq() + 1;
    if (next > needed) return;
    record_.past.erase(record_.past.begin());
  }
}

Result<std::string> Sandbox::newest_snapshot() {
  const config::Lifecycle& wanted = settings_.definition.lifecycle;
  if (wanted.snapshot == config::SnapshotAt::none) return std::string();
  if (!provider_->offers(SG_CAP_SNAPSHOT)) {
    log::warn("provider " + provider_->name() +
              " takes no snapshots: lifecycle.snapshot has no effect");
    return std::string();
  }
  auto all = provider_->snapshots(store_.owner(), mono_ns() + kCallNs);
  if (!all) return tl::unexpected(all.error());
  const Held* newest = nullptr;
  for (const Held& one : *all)
    if (one.key == record_.key && (!newest || one.created_ns > newest->created_ns)) newest = &one;
  if (!newest || newest->created_ns + wanted.snapshot_max_age_ns < wall_ns()) return std::string();
  return newest->id;
}

Status Sandbox::make_box(Cancellation& cancel) {
  auto snapshot = newest_snapshot();
  if (!snapshot) return tl::unexpected(snapshot.error());
  step(snapshot->empty() ? Trigger::none_found : Trigger::snapshot_found);
  if (Status made = create(*snapshot, cancel); !made) return made;
  step(Trigger::ok);  // preparing: no source and no setup steps
  if (settings_.definition.lifecycle.snapshot == config::SnapshotAt::after_setup &&
      snapshot->empty() && provider_->offers(SG_CAP_SNAPSHOT)) {
    step(Trigger::ok_image);
    take_snapshot();
  } else {
    step(Trigger::ok);
  }
  return {};
}

Status Sandbox::create(const std::string& snapshot, Cancellation& cancel) {
  made_box_ = true;
  CreateSpec spec;
  spec.key = record_.key.empty() ? record_.id : record_.key;
  spec.owner = store_.owner();
  spec.root = record_.root;
  spec.local_root = settings_.workspace;
  spec.json = settings_.definition.json;
  spec.snapshot = snapshot;
  // Written down first, the state too, so that a box is found again however this process ends.
  if (Status kept = store_.save(held_, record_); !kept) return kept;
  if (Status kept = journal_->sync(10'000); !kept) return kept;
  Status made = provider_->create(spec, record_.provider_id, cancel, mono_ns() + kCallNs);
  if (Status kept = store_.save(held_, record_); made && !kept) return kept;
  return made;
}

// From imaging or snapshotting. A snapshot that fails only costs time later; older ones of the same
// key are of no use any more.
void Sandbox::take_snapshot() {
  auto taken = provider_->snapshot(record_.provider_id, mono_ns() + kCallNs);
  if (!taken) {
    log::error("no snapshot of sandbox " + record_.id + " could be taken: " + taken.error().text);
    return step(Trigger::error);
  }
  step(Trigger::ok);
  auto all = provider_->snapshots(store_.owner(), mono_ns() + kCallNs);
  if (!all) return;
  for (const Held& one : *all) {
    if (one.key != record_.key || one.id == *taken) continue;
    if (Status gone = provider_->snapshot_delete(one.id, mono_ns() + kCallNs); !gone)
      log::error("an old snapshot was not removed: " + gone.error().text);
  }
}

void Sandbox::say_ready() {
  JsonWriter w;
  w.open('{').key("id").value(record_.id);
  w.key("workspace").value(utf8_or_escaped(record_.workspace));
  w.key("root").value(record_.root).key("provider").value(record_.provider);
  w.key("watcher").raw(watcher_state_json()).key("baseline").value(record_.baseline.commit);
  w.key("resumed").value(resumed_).close('}');
  append(EventKind::ready, "sandbox.ready", w.take());
}

Status Sandbox::reap(const plugin::Registry& registry, const Store& store, HeldInstance held,
                     const InstanceRecord& record, const std::string& why) {
  auto use = config::provider_of_identity(record.definition);
  if (!use)
    return fail(use.error().fault, "the record of sandbox " + record.id +
                                       " does not say what made it: " + use.error().text);
  auto provider = Provider::open(registry, *use);
  if (!provider) return tl::unexpected(provider.error());
  auto summary = summarize_journal(store.journal_file(record.id));
  if (!summary) return tl::unexpected(summary.error());
  auto journal = Journal::open(store.journal_file(record.id), {record.id, record.root});
  if (!journal) return tl::unexpected(journal.error());

  Settings settings;
  settings.definition = config::default_definition();
  settings.definition.hooks.clear();
  Sandbox box(registry, store, std::move(settings));
  box.provider_ = std::move(*provider);
  box.record_ = record;
  box.held_ = std::move(held);
  box.journal_ = std::move(*journal);
  if (Status hooks = box.open_hooks(); !hooks) return hooks;
  box.note_open_run(summary->open_run);
  box.step(Trigger::ensure);
  Status done;
  if (record.provider_id.empty()) done = box.find_unrecorded_box();
  if (done) done = box.end_left_box(why);
  (void)box.journal_->sync(10'000);
  summary = summarize_journal(store.journal_file(record.id));  // with what was appended here
  box.finish(mono_ns() + kCallNs, !done || !summary || !summary->owed.empty());
  return done;
}

}  // namespace sandglass::sandbox
