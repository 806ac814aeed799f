// `restore`: files as the baseline has them. A plan first, from journal, baseline and disk; then
// what goes, deepest first; then what comes.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <map>

#include "api/operations.h"
#include "api/select.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/replace.h"
#include "base/text.h"
#include "event/journal.h"
#include "git/place.h"
#include "git/snapshot.h"

namespace sandglass::api {
namespace {

constexpr uint64_t kLargest = 1u << 30;  // of a file that is held in memory to be written

struct Touch {
  EventKind first = EventKind::file_change, last = EventKind::file_change;
  int64_t last_ns = 0;
  bool wanted = false;  // by the run that was asked for
};

// What the journal of the present box says of its files.
struct Told {
  std::map<std::string, Touch> files;
  int64_t settled_ns = 0;  // when everything was last compared with the disk: the end of a run
  bool knows_run = false;
};

Result<Told> read_told(const std::string& journal, uint64_t first_seq, const std::string& run) {
  Told told;
  bool inside = run.empty();
  for (uint64_t after = first_seq - 1;;) {
    auto events = read_journal(journal, after, 10'000);
    if (!events) return tl::unexpected(events.error());
    if (events->empty()) return told;
    after = events->back().seq;
    for (const Event& event : *events) {
      const bool own = !run.empty() && event.run_id == run;
      if (event.kind == EventKind::run_start && own) inside = told.knows_run = true;
      if (event.kind == EventKind::run_end) told.settled_ns = event.time_ns;
      if (event.kind == EventKind::run_end && own) inside = false;
      if (!is_file(event.kind)) continue;
      auto [it, first] = told.files.try_emplace(event.path);
      if (first) it->second.first = event.kind;
      it->second.last = event.kind;
      it->second.last_ns = event.time_ns;
      const bool by_another = event.actor.kind == ActorKind::run && !run.empty() && !own;
      it->second.wanted |= inside && !by_another;
    }
  }
}

struct Step {
  std::string path;
  git::Piece before;  // absent: the file goes
  std::optional<struct stat> now;
  bool known = true;  // the journal says that it is there
  Restored result;

  bool removes() const { return before.state == git::PieceState::absent; }
};

int64_t ctime_ns(const struct stat& st) {
  return int64_t{st.st_ctim.tv_sec} * 1'000'000'000 + st.st_ctim.tv_nsec;
}

std::string clock_of(int64_t wall_ns) {
  const std::time_t seconds = wall_ns / 1'000'000'000;
  std::tm tm{};
  char text[32];
  ::localtime_r(&seconds, &tm);
  std::strftime(text, sizeof text, "%F %T", &tm);
  return text;
}

class Restorer {
 public:
  Restorer(const RestoreRequest& request, git::Content& then, const Root& workspace)
      : request_(request), content_(then), workspace_(workspace) {}

  void plan(const std::string& path, const Touch& touch, int64_t settled_ns) {
    Step step;
    step.path = step.result.path = path;
    step.known = touch.last != EventKind::file_delete;
    step.before = content_.get(path, git::Which::before);
    auto now = look_below(workspace_, path);
    if (!now) return refuse(std::move(step), now.error().text);
    step.now = *now;
    if (step.now && S_ISDIR(step.now->st_mode) && step.removes()) return;  // no file to remove
    if (!step.now && step.removes()) return;
    if (step.now && !S_ISDIR(step.now->st_mode) && is_as_before(step)) return;
    std::string why = why_not(step, touch);
    if (why.empty() && !request_.force) why = why_not_now(step, touch, settled_ns);
    if (!why.empty()) return refuse(std::move(step), why);
    step.result.what = step.removes() ? "removed" : "restored";
    steps_.push_back(std::move(step));
  }

  void carry_out() {
    if (request_.dry_run) return;
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step)
      if (step->result.why.empty() && step->removes()) remove(*step);
    for (Step& step : steps_)
      if (step.result.why.empty() && !step.removes()) write(step);
  }

  std::vector<Event> take_events() { return std::move(events_); }
  std::vector<Restored> results() const {
    std::vector<Restored> out;
    for (const Step& step : steps_) out.push_back(step.result);
    return out;
  }

 private:
  void refuse(Step step, std::string why) {
    step.result.what = "refused";
    step.result.why = std::move(why);
    steps_.push_back(std::move(step));
  }

  bool is_as_before(const Step& step) {
    if (step.before.state != git::PieceState::here) return false;
    const git::Piece after = content_.get(step.path, git::Which::after);
    return after.state == git::PieceState::here && after.mode == step.before.mode &&
           after.bytes == step.before.bytes;
  }

  // Why it cannot be done at all.
  static std::string why_not(const Step& step, const Touch& touch) {
    using git::PieceState;
    if (step.before.flags & git::piece_lfs_pointer)
      return "only its Git LFS pointer is known here: `git lfs checkout` brings it";
    switch (step.before.state) {
      case PieceState::here:
        return "";
      case PieceState::absent:
      case PieceState::no_baseline:
        return touch.first == EventKind::file_create
                   ? ""
                   : "it was there at the start, but the baseline has no copy of it";
      case PieceState::too_large:
        return "it is larger than 1 GiB at the baseline";
      case PieceState::unsupported:
        return "it belongs to another repository, which is not restored";
      default:
        return "what it was cannot be read (" + std::string(git::name_of(step.before.state)) + ")";
    }
  }

  // Why it would lose what somebody did since.
  static std::string why_not_now(const Step& step, const Touch& touch, int64_t settled_ns) {
    if (!step.now || S_ISDIR(step.now->st_mode)) return "";
    const int64_t looked = std::max(touch.last_ns, settled_ns);
    if (ctime_ns(*step.now) <= looked) return "";
    return "it was changed at " + clock_of(ctime_ns(*step.now)) +
           ", after the sandbox's last look at it; --force overwrites that";
  }

  void remove(Step& step) {
    done(step, remove_below(workspace_, step.path, *step.now), EventKind::file_delete);
  }

  void write(Step& step) {
    auto now = look_below(workspace_, step.path);  // a directory in its place may be empty by now
    if (now && *now && S_ISDIR((*now)->st_mode) && remove_directory(step.path))
      now = look_below(workspace_, step.path);
    if (!now) return done(step, tl::unexpected(now.error()), EventKind::file_change);
    if (*now && S_ISDIR((*now)->st_mode))
      return done(step,
                  fail(Fault::exists, "a directory with other things in it has its place by now"),
                  EventKind::file_change);
    const bool link = step.before.mode == git::kLink;
    const uint32_t mode = link ? S_IFLNK : S_IFREG | (step.before.mode & 0777);
    const auto expected = step.now && !S_ISDIR(step.now->st_mode) ? step.now : *now;
    done(step, replace_below(workspace_, step.path, {mode, step.before.bytes}, expected),
         step.known ? EventKind::file_change : EventKind::file_create);
  }

  bool remove_directory(const std::string& path) {
    const size_t slash = path.rfind('/');
    const bool nested = slash != std::string::npos;
    const auto above =
        workspace_.open_below(nested ? path.substr(0, slash) : "", O_PATH | O_DIRECTORY);
    return above &&
           ::unlinkat(above->get(), path.substr(nested ? slash + 1 : 0).c_str(), AT_REMOVEDIR) == 0;
  }

  void done(Step& step, const Status& status, EventKind kind) {
    if (!status) {
      step.result.what = "refused";
      step.result.why = status.error().text;
      return;
    }
    if (kind == EventKind::file_delete && !step.known) return;
    Event event;
    event.kind = kind;
    event.time_ns = wall_ns();
    event.topic = "sandbox.file";
    event.path = step.path;
    event.actor.kind = ActorKind::host;
    event.actor.pid = ::getpid();
    event.actor.command = "sandglass restore";
    if (step.before.mode == git::kLink) event.flags = event_symlink;
    events_.push_back(std::move(event));
  }

  const RestoreRequest& request_;
  git::Content& content_;
  const Root& workspace_;
  std::vector<Step> steps_;
  std::vector<Event> events_;
};

// The instance with its lock, given back however this ends.
class Hold {
 public:
  Hold(const sandbox::Store& store, sandbox::HeldInstance held)
      : store_(store), held_(std::move(held)) {}
  ~Hold() {
    const auto journal = summarize_journal(store_.journal_file(held_.id));
    const bool over = journal && journal->owed.empty() &&
                      journal->state == sandbox::name_of(sandbox::State::destroyed);
    store_.let_go(std::move(held_), over);
  }

 private:
  const sandbox::Store& store_;
  sandbox::HeldInstance held_;
};

Status journal_it(const std::string& file, const sandbox::InstanceRecord& record,
                  const RestoreRequest& request, std::vector<Event> events) {
  if (events.empty()) return {};
  auto journal = Journal::open(file, {record.id, record.root});
  if (!journal) return tl::unexpected(journal.error());
  Event event;
  event.time_ns = wall_ns();
  event.topic = "sandbox.restore";
  event.actor = events.front().actor;
  JsonWriter w;
  w.open('{').key("files").value(static_cast<uint64_t>(events.size()));
  if (!request.run.empty()) w.key("run").value(request.run);
  event.json = w.key("forced").value(request.force).close('}').take();
  events.push_back(std::move(event));
  (*journal)->append(std::move(events));
  return (*journal)->sync(10'000);
}

}  // namespace

Result<Restore> restore(const RestoreRequest& request) {
  auto store = sandbox::Store::open(request.which.state_dir);
  if (!store) return tl::unexpected(store.error());
  auto record = find_record(*store, request.which);
  if (!record) return tl::unexpected(record.error());
  auto held = store->hold(record->id);
  if (!held) return tl::unexpected(held.error());
  const Hold hold(*store, std::move(*held));

  const std::string journal = store->journal_file(record->id);
  auto told = read_told(journal, record->first_seq, request.run);
  if (!told) return tl::unexpected(told.error());
  if (!request.run.empty() && !told->knows_run)
    return fail(Fault::not_found, "sandbox " + record->id + " has no run " + shown(request.run) +
                                      " since its box was made: `sandglass events` lists them");
  auto workspace = git::open_exact(record->workspace);
  if (!workspace) return tl::unexpected(workspace.error());
  git::ContentOptions options;
  options.size_cap = kLargest;  // nothing leaves this machine, so nothing is redacted either
  git::Baseline baseline = record->baseline;
  baseline.snapshot = !baseline.tree.empty();  // what was dirty at ready is somebody's work
  auto content = git::Content::open(baseline, record->workspace, options);
  if (!content) return tl::unexpected(content.error());

  const Selection selection(record->root, request.paths);
  Restorer restorer(request, **content, *workspace);
  for (const auto& [path, touch] : told->files)
    if (selection.has(path) && touch.wanted) restorer.plan(path, touch, told->settled_ns);
  restorer.carry_out();
  Restore out;
  out.sandbox = record->id;
  out.files = restorer.results();
  out.untouched = selection.unmatched();
  if (Status kept = journal_it(journal, *record, request, restorer.take_events()); !kept)
    return fail(kept.error().fault,
                "the files are restored, but not the journal: " + kept.error().text);
  return out;
}

}  // namespace sandglass::api
