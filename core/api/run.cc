#include <atomic>
#include <set>
#include <thread>

#include "api/definition.h"
#include "api/patch_stat.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/text.h"

namespace sandglass::api {
namespace {

constexpr size_t kMostCounted = 2'000;  // files whose lines are counted for the summary

// P1a: others in the same directory are no fault, but their edits will be seen here too.
std::vector<std::string> neighbours(const sandbox::Store& store, const std::string& own,
                                    const std::string& workspace) {
  std::vector<std::string> notes;
  for (const std::string& id : store.open_ids()) {
    if (id == own || !store.owned(id)) continue;
    auto other = store.record(id);
    if (other && other->workspace == workspace)
      notes.push_back("sandbox " + id +
                      " is running in this directory too: each sees the other's changes");
  }
  return notes;
}

// Hands the run's events on, in order, until RUN_END has passed.
class Follower {
 public:
  Follower(sandbox::Sandbox& box, std::string run_id, bool diff, const RunObserver& observer)
      : box_(box),
        run_id_(std::move(run_id)),
        diff_(diff),
        observer_(observer),
        cursor_(box.journal().subscribe(box.journal().last_seq())),
        thread_([this] { follow(); }) {}
  ~Follower() {
    if (!thread_.joinable()) return;
    stop_ = true;
    cursor_->wake();
    thread_.join();
  }
  // The run is over. What was published is still handed on; where RUN_END could not be journaled
  // there is nothing more to wait for.
  void finish() {
    over_ = true;
    thread_.join();
  }

 private:
  void follow() {
    while (!stop_) {
      const bool was_over = over_;
      const auto events = cursor_->next(256, 1'000);
      for (const EventPtr& event : events)
        if (hand_on(*event)) return;
      if (was_over && events.empty()) return;
    }
  }
  bool hand_on(const Event& event) {
    const bool own_end = event.kind == EventKind::run_end && event.run_id == run_id_;
    if (diff_ && is_file(event.kind) && box_.content()) {
      const git::Piece patch = box_.content()->get(event.path, git::Which::diff, true);
      observer_.event(box_.journal().origin(), event, &patch);
    } else {
      observer_.event(box_.journal().origin(), event, nullptr);
    }
    return own_end;
  }

  sandbox::Sandbox& box_;
  std::string run_id_;
  bool diff_;
  const RunObserver& observer_;
  std::unique_ptr<Cursor> cursor_;
  std::atomic<bool> stop_{false}, over_{false};
  std::thread thread_;
};

std::set<std::string> touched(sandbox::Sandbox& box, const sandbox::RunResult& result) {
  std::set<std::string> paths;
  auto cursor = box.journal().subscribe(result.first_seq - 1);
  while (cursor->position() < result.last_seq) {
    const auto events = cursor->next(1024, 1'000);
    if (events.empty()) break;
    for (const EventPtr& event : events)
      if (is_file(event->kind)) paths.insert(event->path);
  }
  return paths;
}

// Compared with the files at ready: what was changed before is not the run's doing (rule B3).
// Where nobody knows how a file was then, with the commit.
git::Piece change_of(sandbox::Sandbox& box, const std::string& path) {
  if (git::Content* ready = box.content_at_ready())
    if (git::Piece piece = ready->get(path, git::Which::diff);
        piece.state != git::PieceState::fault)
      return piece;
  return box.content()->get(path, git::Which::diff);
}

void summarize(sandbox::Sandbox& box, RunReport& report) {
  const std::set<std::string> paths = touched(box, report.result);
  report.counted = paths.size() <= kMostCounted && box.content();
  for (const std::string& path : paths) {
    FileStat stat;
    stat.path = path;
    if (report.counted) stat = stat_of(path, change_of(box, path));
    if (stat.change == "same") continue;
    report.added += stat.added;
    report.removed += stat.removed;
    report.files.push_back(std::move(stat));
  }
}

// What earlier processes left. Nothing of it concerns this run's result.
void tidy_up(const sandbox::Store& store, const Chosen& chosen) {
  for (const sandbox::Tidied& one :
       sandbox::reap_leftovers(*chosen.registry, store, sandbox::Foreign::leave)) {
    const std::string text = "sandbox " + one.id + ", " + one.why + ", ";
    if (one.error.empty())
      log::info(text + "was destroyed");
    else
      log::error(text + "was not destroyed: " + one.error);
  }
  sandbox::apply_retention_daily(store, chosen.retention);
}

}  // namespace

Result<RunReport> run(const RunRequest& request, sandbox::ExecIo& io, const RunObserver& observer,
                      sandbox::Cancellation& cancel) {
  auto store = sandbox::Store::open(request.state_dir);
  if (!store) return tl::unexpected(store.error());
  auto chosen = choose(request);
  if (!chosen) return tl::unexpected(chosen.error());
  if (request.keep && chosen->definition.lifecycle.reuse == config::Reuse::none)
    return fail(
        Fault::invalid,
        "--keep keeps a box for later runs, but this sandbox is not reused: define one with "
        "lifecycle: {reuse: thread} and name it with --sandbox");
  auto box =
      sandbox::Sandbox::ensure(*chosen->registry, *store,
                               {chosen->definition, chosen->workspace, request.thread_id}, cancel);
  if (!box) return tl::unexpected(box.error());

  const sandbox::InstanceRecord& record = (*box)->record();
  sandbox::RunRequest wanted;
  wanted.run_id = sandbox::make_run_id();
  wanted.thread_id = request.thread_id.empty() ? "thread-" + random_hex(8) : request.thread_id;
  wanted.exec = request.exec;
  wanted.exec.env = request.env;
  if (request.time_limit_ns) wanted.exec.deadline_ns = mono_ns() + request.time_limit_ns;
  observer.ready({record.id, wanted.run_id, wanted.thread_id, record.provider, record.watcher,
                  record.workspace, record.baseline, (*box)->resumed(),
                  neighbours(*store, record.id, record.workspace)});

  std::unique_ptr<Follower> follower;
  if (observer.event)
    follower = std::make_unique<Follower>(
        **box, wanted.run_id, request.diff || chosen->definition.file_events.diff, observer);
  io.output = observer.output;
  auto result = sandbox::run(**box, std::move(wanted), io, cancel);
  if (follower) follower->finish();
  const bool stopped = !result || result->state == sandbox::RunState::cancelled;
  RunReport report;
  if (result) {
    report.result = std::move(*result);
    summarize(**box, report);
  }
  (void)(*box)->complete(stopped, request.keep);  // logged there; the run itself is over
  box->reset();
  tidy_up(*store, *chosen);
  if (!result) return tl::unexpected(result.error());
  return report;
}

}  // namespace sandglass::api
