#include <set>

#include "api/definition.h"
#include "api/patch_stat.h"
#include "api/select.h"
#include "base/clock.h"
#include "base/text.h"
#include "event/journal.h"

namespace sandglass::api {
namespace {

Result<std::set<std::string>> touched(const std::string& journal, uint64_t first_seq) {
  std::set<std::string> paths;
  for (uint64_t after = first_seq - 1;;) {
    auto events = read_journal(journal, after, 10'000);
    if (!events) return tl::unexpected(events.error());
    if (events->empty()) return paths;
    after = events->back().seq;
    for (const Event& event : *events)
      if (is_file(event.kind)) paths.insert(event.path);
  }
}

}  // namespace

Result<Events> events(const Which& which, uint64_t after, size_t limit) {
  auto store = sandbox::Store::open(which.state_dir);
  if (!store) return tl::unexpected(store.error());
  auto record = find_record(*store, which);
  if (!record) return tl::unexpected(record.error());
  Events out;
  out.origin = {record->id, record->root};
  out.owned = store->owned(record->id);  // before reading: what it adds then is asked for again
  auto events = read_journal(store->journal_file(record->id), after, limit);
  if (!events) return tl::unexpected(events.error());
  out.events = std::move(*events);
  return out;
}

Result<Diff> diff(const DiffRequest& request) {
  auto store = sandbox::Store::open(request.which.state_dir);
  if (!store) return tl::unexpected(store.error());
  auto record = find_record(*store, request.which);
  if (!record) return tl::unexpected(record.error());
  git::ContentOptions options;
  options.redact = record->redact;
  options.binary_full = record->binary_full;
  auto content = git::Content::open(record->baseline, record->workspace, options);
  if (!content) return tl::unexpected(content.error());
  auto paths = touched(store->journal_file(record->id), record->first_seq);
  if (!paths) return tl::unexpected(paths.error());
  const Selection wanted(record->root, request.paths);
  Diff out;
  out.record = std::move(*record);
  for (const std::string& path : *paths) {
    if (!wanted.has(path)) continue;
    git::Piece piece = (*content)->get(path, git::Which::diff);
    FilePatch file{stat_of(path, piece), std::move(piece.bytes)};
    if (file.stat.change != "same") out.files.push_back(std::move(file));
  }
  return out;
}

Result<std::vector<InstanceStatus>> status(const std::string& state_dir,
                                           const std::string& sandbox) {
  auto store = sandbox::Store::open(state_dir);
  if (!store) return tl::unexpected(store.error());
  std::vector<InstanceStatus> out;
  for (sandbox::InstanceRecord& record : store->list()) {
    if (!sandbox.empty() && record.id != sandbox && record.name != sandbox) continue;
    InstanceStatus one;
    one.owned = store->owned(record.id);
    auto summary = summarize_journal(store->journal_file(record.id));
    if (!summary) return tl::unexpected(summary.error());
    one.events = summary->events;
    one.file_events = summary->file_events;
    one.last_ns = summary->last_ns;
    one.state = summary->state;
    one.owed = summary->owed;
    if (record.keep_alive_ns) one.kept_until_ns = summary->last_ns + record.keep_alive_ns;
    if (!one.owned && one.state != sandbox::name_of(sandbox::State::destroyed))
      one.state =
          one.kept_until_ns > wall_ns() && sandbox::can_go_on(record, *summary) ? "kept" : "left";
    one.watching = watch::describe(record.watching);
    one.pin = git::pin_state(record.baseline.pin);
    one.record = std::move(record);
    out.push_back(std::move(one));
  }
  if (out.empty() && !sandbox.empty())
    return fail(Fault::not_found, "there is no sandbox " + shown(sandbox) + " in " +
                                      shown(store->directory()) +
                                      ": `sandglass status` lists those there are");
  return out;
}

}  // namespace sandglass::api
