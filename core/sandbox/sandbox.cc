#include "sandbox/sandbox.h"

#include <algorithm>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "sandbox/hooks.h"
#include "watch/choose.h"

namespace sandglass::sandbox {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int kReadyMs = 60'000;
constexpr int kTearDownMs = 60'000;

// "shop" of /home/ann/Shop; what a file name, a log line and a URL all take.
std::string stem_of(const Settings& settings) {
  std::string from = settings.definition.id;
  if (from.empty()) {
    from = settings.workspace.substr(settings.workspace.rfind('/') + 1);
  }
  std::string out;
  for (char c : from) {
    const auto u = static_cast<unsigned char>(c);
    const bool keep = (u >= 'a' && u <= 'z') || (u >= '0' && u <= '9') || u == '.' || u == '_';
    if (keep && !(out.empty() && u == '.'))
      out += c;
    else if (u >= 'A' && u <= 'Z')
      out += static_cast<char>(u + 32);
    else if (!out.empty() && out.back() != '-')
      out += '-';
    if (out.size() == 32) break;
  }
  while (!out.empty() && out.back() == '-') out.pop_back();
  return out.empty() ? "box" : out;
}

std::vector<Event> events_of(const std::vector<watch::FileChange>& batch) {
  const int64_t wall = wall_ns(), mono = mono_ns();
  std::vector<Event> events;
  events.reserve(batch.size());
  for (const watch::FileChange& change : batch) {
    Event e;
    e.flags = change.flags;
    e.seen_ns = change.seen_ns;
    e.time_ns = change.seen_ns ? wall - (mono - change.seen_ns) : wall;
    e.actor.pid = change.pid;
    if (change.kind == watch::ChangeKind::rescan) {
      e.kind = EventKind::rescan;
      e.topic = "sandbox.rescan";
      e.json = R"({"reason":"changes were missed; the tree was compared with the disk"})";
    } else {
      e.kind = static_cast<EventKind>(change.kind);
      e.topic = "sandbox.file";
      e.path = change.path;
    }
    events.push_back(std::move(e));
  }
  return events;
}

static_assert(static_cast<uint32_t>(watch::ChangeKind::create) ==
              static_cast<uint32_t>(EventKind::file_create));
static_assert(static_cast<uint32_t>(watch::ChangeKind::remove) ==
              static_cast<uint32_t>(EventKind::file_delete));

std::string error_json(const Error& error) {
  JsonWriter w;
  w.open('{').key("kind").value(name_of(error.fault)).key("message").value(error.text).close('}');
  return w.take();
}

}  // namespace

Sandbox::Sandbox(const plugin::Registry& registry, const Store& store, Settings settings)
    : registry_(registry), store_(store), settings_(std::move(settings)) {}

Sandbox::~Sandbox() {
  (void)destroy();
}

Result<std::unique_ptr<Sandbox>> Sandbox::ensure(const plugin::Registry& registry,
                                                 const Store& store, Settings settings,
                                                 Cancellation& cancel) {
  std::unique_ptr<Sandbox> box(new Sandbox(registry, store, std::move(settings)));
  Status opened = box->open();
  if (opened) opened = store.save(box->held_, box->record_);
  if (!opened) {
    box->dispatcher_.reset();
    box->journal_.reset();
    store.discard(box->held_);
    return tl::unexpected(opened.error());
  }
  box->step(Trigger::ensure);
  box->step(Trigger::none_found);
  Status done = box->create(cancel);
  if (done) box->step(Trigger::ok);  // preparing: no source and no setup steps
  if (done) box->step(Trigger::ok);
  if (done) done = box->arm();
  if (done && cancel.cancelled()) done = fail(Fault::cancelled, "cancelled while starting");
  if (!done) {
    Error error = done.error();
    box->failed(error);
    (void)box->destroy();
    return tl::unexpected(std::move(error));
  }
  box->step(Trigger::ok);
  JsonWriter w;
  w.open('{')
      .key("id")
      .value(box->record_.id)
      .key("workspace")
      .value(utf8_or_escaped(box->record_.workspace));
  w.key("root").value(box->record_.root).key("provider").value(box->record_.provider);
  w.key("watcher")
      .raw(box->watcher_state_json())
      .key("baseline")
      .value(box->record_.baseline.commit);
  w.close('}');
  box->append(EventKind::ready, "sandbox.ready", w.take());
  box->watch_for_loss();
  return box;
}

// Everything that can be wrong with the definition shows here, before anything exists.
Status Sandbox::open() {
  const config::Definition& d = settings_.definition;
  auto provider = Provider::open(registry_, d.provider);
  if (!provider) return tl::unexpected(provider.error());
  provider_ = std::move(*provider);
  auto held = store_.make_instance(stem_of(settings_), d.id, record_.id);
  if (!held) return tl::unexpected(held.error());
  held_ = std::move(*held);
  record_.name = d.id;
  record_.workspace = settings_.workspace;
  record_.root = d.root;
  record_.provider = provider_->name();
  record_.created_ns = wall_ns();
  auto journal = Journal::open(store_.journal_file(record_.id), {record_.id, d.root});
  if (!journal) return tl::unexpected(journal.error());
  journal_ = std::move(*journal);
  auto handlers = make_handlers(registry_, *journal_, d.hooks);
  if (!handlers) return tl::unexpected(handlers.error());
  dispatcher_ = Dispatcher::start(*journal_, std::move(*handlers),
                                  [this](const Event& event, git::Which which, bool for_export) {
                                    return content_ ? content_->get(event.path, which, for_export)
                                                    : git::Piece{};
                                  });
  return {};
}

Status Sandbox::create(Cancellation& cancel) {
  CreateSpec spec;
  spec.key = record_.id;
  spec.root = record_.root;
  spec.local_root = settings_.workspace;
  spec.json = settings_.definition.json;
  return provider_->create(spec, record_.provider_id, cancel,
                           mono_ns() + kTearDownMs * 1'000'000LL);
}

Status Sandbox::arm() {
  const config::FileEvents& wanted = settings_.definition.file_events;
  auto local = provider_->local_path(record_.provider_id, mono_ns() + 10 * kSecond);
  if (!local) return tl::unexpected(local.error());
  record_.workspace = *local;
  record_.baseline = git::pin_baseline(*local);
  if (!record_.baseline.note.empty()) log::warn("baseline: " + record_.baseline.note);
  record_.redact = settings_.definition.redact;
  git::ContentOptions options;
  options.redact = record_.redact;
  auto content = git::Content::open(record_.baseline, *local, options);
  if (!content) return tl::unexpected(content.error());
  content_ = std::move(*content);
  if (wanted.enabled) {
    if (Status watching = start_watcher(*local); !watching) {
      if (wanted.required) return watching;
      log::error("files are not watched: " + watching.error().text);
    }
  }
  return store_.save(held_, record_);
}

Status Sandbox::start_watcher(const std::string& local_root) {
  const config::FileEvents& wanted = settings_.definition.file_events;
  auto instance = watch::choose_watcher(registry_, wanted.watcher, wanted.watcher_with);
  if (!instance) return tl::unexpected(instance.error());
  const std::string name = (*instance)->type().name;
  watch::Target target;
  target.sandbox_id = record_.id;
  target.root = record_.root;
  target.local_root = local_root;
  target.ignore = wanted.ignore;
  target.interval_ms = static_cast<int>(wanted.interval_ns / 1'000'000);
  Journal* journal = journal_.get();
  auto session = watch::Session::start(
      std::move(*instance), std::move(target),
      [journal](std::vector<watch::FileChange> batch) { journal->append(events_of(batch)); },
      kReadyMs);
  if (!session) return tl::unexpected(session.error());
  session_ = std::move(*session);
  session_->set_backlogged([journal] { return journal->backlogged(); });
  record_.watcher = name;
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
  Status seen = session_ ? session_->audit(timeout_ms) : Status{};
  if (!seen) log::error("the watcher did not settle: " + seen.error().text);
  Status written = journal_->sync(timeout_ms);
  if (gone_ && state_ == State::ready) {
    step(Trigger::provider_gone);
    append(EventKind::error, "sandbox.error", error_json({Fault::lost, "the sandbox is gone"}));
  }
  return seen ? written : seen;
}

void Sandbox::drain_hooks(int timeout_ms) {
  const DrainReport report = dispatcher_->drain(timeout_ms);
  if (report.undelivered == 0) return;
  std::string names;
  for (const std::string& name : report.late) names += (names.empty() ? "" : ", ") + shown(name);
  log::error(std::to_string(report.undelivered) + " events did not reach " + names +
             " before the deadline");
}

std::string Sandbox::watcher_state_json() const {
  return session_ ? session_->state_json() : "{}";
}

Status Sandbox::destroy() {
  if (state_ == State::destroyed || state_ == State::absent) return {};
  const int64_t end = mono_ns() + kTearDownMs * 1'000'000LL;
  auto left_ms = [&](int64_t most) {
    return static_cast<int>(std::clamp<int64_t>((end - mono_ns()) / 1'000'000, 0, most));
  };
  stop_waiting_.cancel();
  if (gone_thread_.joinable()) gone_thread_.join();
  const bool drains = state_ != State::failed;
  step(Trigger::destroy);
  if (session_)
    if (Status stopped = session_->stop(left_ms(20'000)); !stopped)
      log::error("the watcher did not stop: " + stopped.error().text);
  session_.reset();
  (void)journal_->sync(left_ms(10'000));
  drain_hooks(left_ms(10'000));
  if (drains) step(Trigger::drained);
  Status done;
  for (int attempt = 0; attempt < 3 && !record_.provider_id.empty(); attempt++) {
    done = provider_->destroy(record_.provider_id, mono_ns() + left_ms(10'000) * 1'000'000LL);
    if (done) break;
    log::error("sandbox " + record_.id + " was not destroyed: " + done.error().text);
    step(Trigger::error);
  }
  if (done) {
    step(Trigger::ok);
    append(EventKind::destroy, "sandbox.destroy", "{}");
  }
  (void)journal_->sync(left_ms(10'000));
  drain_hooks(left_ms(10'000));
  dispatcher_->stop(left_ms(10'000));
  return done;
}

}  // namespace sandglass::sandbox
