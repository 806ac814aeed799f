#include "sandbox/sandbox.h"

#include <algorithm>
#include <set>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "watch/choose.h"

namespace sandglass::sandbox {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int kReadyMs = 60'000;
constexpr int kTearDownMs = 60'000;

std::vector<Event> events_of(const std::vector<watch::FileChange>& batch,
                             const Attribution& attribution) {
  const int64_t wall = wall_ns(), mono = mono_ns();
  std::vector<Event> events;
  events.reserve(batch.size());
  for (const watch::FileChange& change : batch) {
    Event e;
    e.flags = change.flags;
    e.seen_ns = change.seen_ns;
    e.time_ns = change.seen_ns ? wall - (mono - change.seen_ns) : wall;
    if (change.kind == watch::ChangeKind::rescan) {
      e.kind = EventKind::rescan;
      e.topic = "sandbox.rescan";
      e.json = R"({"reason":"changes were missed; the tree was compared with the disk"})";
    } else {
      e.kind = static_cast<EventKind>(change.kind);
      e.topic = "sandbox.file";
      e.path = change.path;
      attribution.settle(change, e);
    }
    events.push_back(std::move(e));
  }
  return events;
}

static_assert(static_cast<uint32_t>(watch::ChangeKind::create) ==
              static_cast<uint32_t>(EventKind::file_create));
static_assert(static_cast<uint32_t>(watch::ChangeKind::remove) ==
              static_cast<uint32_t>(EventKind::file_delete));

git::Compare compare_with(config::BaselineAt baseline) {
  switch (baseline) {
    case config::BaselineAt::head:
      return git::Compare::head;
    case config::BaselineAt::snapshot:
      return git::Compare::snapshot;
    case config::BaselineAt::automatic:
      return git::Compare::automatic;
  }
  return git::Compare::head;
}

int left_ms(int64_t end_ns, int64_t most) {
  return static_cast<int>(std::clamp<int64_t>((end_ns - mono_ns()) / 1'000'000, 0, most));
}

std::string error_json(const Error& error) {
  JsonWriter w;
  w.open('{').key("kind").value(name_of(error.fault)).key("message").value(error.text).close('}');
  return w.take();
}

}  // namespace

Sandbox::Sandbox(const plugin::Registry& registry, const Store& store, Settings settings)
    : registry_(registry),
      store_(store),
      settings_(std::move(settings)),
      attribution_(std::make_shared<Attribution>()) {}

Sandbox::~Sandbox() {
  (void)destroy();
}

Status Sandbox::arm() {
  const config::FileEvents& wanted = settings_.definition.file_events;
  auto local = provider_->local_path(record_.provider_id, mono_ns() + 10 * kSecond);
  if (!local) return tl::unexpected(local.error());
  record_.workspace = *local;
  pin_baseline(*local);
  record_.redact = settings_.definition.redact;
  record_.binary_full = settings_.definition.binary_full;
  contents_->add(record_.first_seq, record_.baseline, *local);
  if (!contents_->newest())
    return fail(Fault::failed, "the files of " + shown(*local) + " cannot be compared");
  record_.watcher.clear();
  record_.watching.clear();
  if (wanted.enabled) {
    if (Status watching = start_watcher(*local); !watching) {
      if (wanted.required) return watching;
      log::error("files are not watched: " + watching.error().text);
    }
  }
  Status kept = store_.save(held_, record_);
  if (kept) pin_->start();
  return kept;
}

// B1: once for each box. A later process takes what the first one wrote down.
void Sandbox::pin_baseline(const std::string& local_root) {
  if (resumed_) {
    pin_ = git::Pin::resume(record_.baseline);
    return;
  }
  drop_old_pins();
  git::PinOptions options;
  options.folder = store_.pin_folder(record_.id, record_.first_seq);
  options.compare = compare_with(settings_.definition.baseline);
  options.skip = settings_.definition.file_events.ignore;
  options.redact = settings_.definition.redact;
  pin_ = git::Pin::make(local_root, options);
  record_.baseline = pin_->baseline();
  if (!record_.baseline.note.empty()) log::warn("baseline: " + record_.baseline.note);
}

// Of boxes whose events everybody has had.
void Sandbox::drop_old_pins() {
  std::set<std::string> needed;
  for (const PastBox& past : record_.past)
    needed.insert(store_.pin_folder(record_.id, past.first_seq));
  store_.drop_pins(record_.id, needed);
}

Status Sandbox::start_watcher(const std::string& local_root) {
  const config::FileEvents& wanted = settings_.definition.file_events;
  watch::Target target;
  target.sandbox_id = record_.id;
  target.root = record_.root;
  target.local_root = local_root;
  target.ignore = wanted.ignore;
  target.interval_ms = static_cast<int>(wanted.interval_ns / 1'000'000);
  Journal* journal = journal_.get();
  auto started = watch::start_watcher(
      registry_,
      {wanted.watcher, wanted.watcher_with, provider_->lend(record_.id, record_.provider_id),
       kReadyMs},
      std::move(target),
      [journal, attribution = attribution_](std::vector<watch::FileChange> batch) {
        journal->append(events_of(batch, *attribution));
      });
  if (!started) return tl::unexpected(started.error());
  session_ = std::move(started->session);
  session_->set_backlogged([journal] { return journal->backlogged(); });
  record_.watcher = started->watcher;
  record_.watching = session_->state_json();
  if (session_->tells_writers()) attribution_->begin();
  return {};
}

void Sandbox::step(Trigger trigger) {
  const auto to = next(state_, trigger);
  if (!to) {
    log::error("sandbox " + record_.id + ": no transition from " + std::string(name_of(state_)) +
               " on " + std::string(name_of(trigger)));
    return;
  }
  log::debug("sandbox", record_.id + ": " + std::string(name_of(state_)) + " -" +
                            std::string(name_of(trigger)) + "-> " + std::string(name_of(*to)));
  JsonWriter w;
  w.open('{').key("from").value(name_of(state_)).key("event").value(name_of(trigger));
  w.key("to").value(name_of(*to)).close('}');
  state_ = *to;
  append(EventKind::state, "sandbox.state", w.take());
}

void Sandbox::append(EventKind kind, std::string topic, std::string json, std::string run_id) {
  Event e;
  e.kind = kind;
  e.time_ns = wall_ns();
  e.seen_ns = mono_ns();
  e.topic = std::move(topic);
  e.json = std::move(json);
  e.run_id = std::move(run_id);
  e.actor.kind = ActorKind::host;
  journal_->append(std::move(e));
}

void Sandbox::failed(const Error& error) {
  step(Trigger::error);
  append(EventKind::error, "sandbox.error", error_json(error));
}

// The provider tells on a thread of its own; the owner acts on it at its next step.
void Sandbox::watch_for_loss() {
  gone_thread_ = std::thread([this] {
    if (!provider_->wait_gone(record_.provider_id, stop_waiting_)) return;
    gone_ = true;
    log::error("sandbox " + record_.id + " is gone: its provider no longer has it");
  });
}

Status Sandbox::settle(int timeout_ms) {
  std::lock_guard lock(settling_);
  Status seen = session_ ? session_->audit(timeout_ms) : Status{};
  if (!seen) log::error("the watcher did not settle: " + seen.error().text);
  note_watching();
  Status written = journal_->sync(timeout_ms);
  if (gone_ && state_ == State::ready) {
    step(Trigger::provider_gone);
    append(EventKind::error, "sandbox.error", error_json({Fault::lost, "the sandbox is gone"}));
  }
  return seen ? written : seen;
}

// What `status` shows to other processes.
void Sandbox::note_watching() {
  if (!session_) return;
  std::string now = session_->state_json();
  if (now == record_.watching) return;
  record_.watching = std::move(now);
  if (Status kept = store_.save(held_, record_); !kept) log::error(kept.error().text);
}

static std::string missed(const DrainReport::Part& part) {
  std::string out =
      std::to_string(part.events) + (part.events == 1 ? " event" : " events") + " did not reach ";
  for (const std::string& name : part.hooks)
    out += (&name == &part.hooks.front() ? "" : ", ") + shown(name);
  return out;
}

void Sandbox::drain_hooks(int timeout_ms) {
  std::lock_guard lock(settling_);
  const DrainReport report = dispatcher_->drain(timeout_ms);
  if (report.late.events) log::error(missed(report.late) + " before the deadline");
  if (report.kept.events) log::error(missed(report.kept) + " yet; they are kept for it");
  if (report.given_up.events) log::info(missed(report.given_up) + ", which was given up");
}

std::string Sandbox::watcher_state_json() const {
  std::string json = session_ ? session_->state_json() : "{}";
  const std::string source = attribution_->source();
  if (!session_ || source.empty()) return json;
  json.pop_back();
  json += ",\"processes\":";
  append_json_string(json, source);
  return json + "}";
}

// Watcher and hooks have what was written so far; nothing watches any more.
void Sandbox::quiet_down(int64_t end_ns) {
  stop_waiting_.cancel();
  if (gone_thread_.joinable()) gone_thread_.join();
  if (session_)
    if (Status stopped = session_->stop(left_ms(end_ns, 20'000)); !stopped)
      log::error("the watcher did not stop: " + stopped.error().text);
  if (pin_) pin_->finish(left_ms(end_ns, 10'000));
  (void)journal_->sync(left_ms(end_ns, 10'000));
}

// What the provider no longer has is destroyed.
Status Sandbox::destroy_box(int64_t end_ns) {
  Status done;
  for (int attempt = 0; attempt < 3 && !record_.provider_id.empty(); attempt++) {
    done =
        provider_->destroy(record_.provider_id, mono_ns() + left_ms(end_ns, 10'000) * 1'000'000LL);
    if (!done && (done.error().fault == Fault::not_found || done.error().fault == Fault::lost))
      done = {};
    if (done) break;
    log::error("sandbox " + record_.id + " was not destroyed: " + done.error().text);
    step(Trigger::error);
  }
  return done;
}

// The last hooks, then the journal; the sandbox leaves the list of open ones where nothing is left
// to do for it.
void Sandbox::finish(int64_t end_ns, bool has_box) {
  (void)journal_->sync(left_ms(end_ns, 10'000));
  drain_hooks(left_ms(end_ns, 10'000));
  dispatcher_->stop(left_ms(end_ns, 10'000));
  const bool owes = dispatcher_->owes();
  dispatcher_.reset();
  session_.reset();
  journal_.reset();
  store_.let_go(std::move(held_), !has_box && !owes);
  finished_ = true;
}

Status Sandbox::destroy() {
  if (finished_ || !dispatcher_) return {};
  const int64_t end = mono_ns() + kTearDownMs * 1'000'000LL;
  const bool drains = state_ != State::failed;
  step(Trigger::destroy);
  quiet_down(end);
  drain_hooks(left_ms(end, 10'000));
  if (drains) step(Trigger::drained);
  const Status done = destroy_box(end);
  if (done) {
    step(Trigger::ok);
    append(EventKind::destroy, "sandbox.destroy", "{}");
  }
  finish(end, !done);
  return done;
}

Status Sandbox::release() {
  if (finished_ || !dispatcher_) return {};
  const int64_t end = mono_ns() + kTearDownMs * 1'000'000LL;
  log::debug("sandbox", record_.id + ": released; its box is kept");
  if (record_.keep_alive_ns == 0 && state_ == State::ready) {  // kept on request
    record_.keep_alive_ns = settings_.definition.lifecycle.keep_alive_ns;
    if (Status kept = store_.save(held_, record_); !kept) log::error(kept.error().text);
  }
  quiet_down(end);
  finish(end, true);
  return {};
}

Status Sandbox::complete(bool cancelled, bool keep) {
  const config::Lifecycle& wanted = settings_.definition.lifecycle;
  if (wanted.snapshot == config::SnapshotAt::after_run && !cancelled && state_ == State::ready) {
    step(Trigger::snapshot);
    take_snapshot();
  }
  const bool keeps = keep || (!wanted.destroy_on_complete && !cancelled);
  return keeps && state_ == State::ready ? release() : destroy();
}

}  // namespace sandglass::sandbox
