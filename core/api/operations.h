// What sandglass can do. Nothing here prints or reads arguments; callbacks name their thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/definition.h"
#include "event/event.h"
#include "git/pin.h"
#include "plugin/registry.h"
#include "sandbox/leftovers.h"
#include "sandbox/run.h"
#include "watch/session.h"

namespace sandglass::api {

// ---- run ----------------------------------------------------------------------------------------

struct RunRequest {
  std::string state_dir;  // "" is the default
  std::string config;     // "" is the user's or the system's file, where there is one
  std::string sandbox;   // id of a definition; "" is the built-in one (or the only one of `config`)
  std::string provider;  // overrides the definition's
  std::string watcher;   // the same
  std::string workspace;           // "" is the definition's, else the current directory
  std::string thread_id;           // made when empty
  bool all_of_it = false;          // the home directory or / may be watched
  bool keep = false;               // the box stays at the end, whatever the lifecycle says
  bool diff = false;               // the log hook shows patches; events come with their patch
  std::vector<std::string> debug;  // categories to log besides those of the configuration
  std::vector<std::string> env;    // "NAME=value", set inside the sandbox
  int64_t time_limit_ns = 0;       // of the command; 0 is none
  sandbox::Exec exec;              // argv, tty, input, size
};

struct RunReady {
  std::string sandbox_id, run_id, thread_id, provider, watcher, workspace;
  git::Baseline baseline;
  bool resumed = false;            // the box of an earlier run goes on
  std::vector<std::string> notes;  // sentences: what the user should know before the command runs
};

struct RunObserver {
  std::function<void(const RunReady&)> ready;                      // caller's thread, once
  std::function<void(int stream, std::string_view bytes)> output;  // caller's thread
  // Events of the run in order, on a thread of their own; `patch` where asked for. May be null.
  std::function<void(const Origin&, const Event&, const git::Piece* patch)> event;
};

struct FileStat {
  std::string path;    // below the workspace
  std::string change;  // "create", "change", "delete" against the baseline; "same"
  uint64_t added = 0, removed = 0;
  git::PieceState state = git::PieceState::here;
  bool binary = false;
};

struct RunReport {
  sandbox::RunResult result;
  std::vector<FileStat> files;  // touched by the run and other than when it began
  bool counted = true;          // false: too many files to count lines of
  uint64_t added = 0, removed = 0;
};

// `observer` is called until this returns. Cancelling ends the command's whole tree.
Result<RunReport> run(const RunRequest& request, sandbox::ExecIo& io, const RunObserver& observer,
                      sandbox::Cancellation& cancel);

// ---- watch --------------------------------------------------------------------------------------

struct WatchRequest {
  std::string directory;
  std::vector<std::string> ignore = {".git", "node_modules"};
  std::string watcher = "auto";
  int64_t interval_ns = 700'000'000;
  bool all_of_it = false;
};

// A watcher without a run (rule O1). The registry must outlive the session.
struct Watching {
  std::unique_ptr<plugin::Registry> registry;
  std::unique_ptr<watch::Session> session;  // destroyed first
  std::string directory, watcher;
};
Result<Watching> watch(const WatchRequest& request, watch::Sink sink);

// ---- history ------------------------------------------------------------------------------------

struct Which {  // one instance of the state directory
  std::string state_dir;
  std::string sandbox;    // instance id; "" is the newest one for `directory`
  std::string directory;  // "" is the current one
};

struct Events {
  // Where the first one's seq is not `after` + 1, what was between is no longer kept.
  Origin origin;
  bool owned = false;  // a living process still adds to them
  std::vector<Event> events;
};
Result<Events> events(const Which& which, uint64_t after, size_t limit);

struct DiffRequest {
  Which which;
  std::vector<std::string> paths;  // below the workspace; empty is all
};
struct FilePatch {
  FileStat stat;
  std::string patch;
};
struct Diff {
  sandbox::InstanceRecord record;
  std::vector<FilePatch> files;  // in path order; only what differs or is withheld
};
Result<Diff> diff(const DiffRequest& request);

struct InstanceStatus {
  sandbox::InstanceRecord record;
  bool owned = false;
  // Of the lifecycle; "kept" where a later run goes on with the box, "left" where its process died
  // before it was destroyed or its time is over.
  std::string state;
  uint64_t events = 0, file_events = 0;
  int64_t last_ns = 0, kept_until_ns = 0;
  std::string watching;  // for people: mode in force, and why; as of ready or the last run's end
  git::PinState pin;                     // how the baseline is kept
  std::map<std::string, uint64_t> owed;  // events that a durable hook has not had, by its name
};
Result<std::vector<InstanceStatus>> status(const std::string& state_dir,
                                           const std::string& sandbox);

// ---- restore ------------------------------------------------------------------------------------

struct RestoreRequest {
  Which which;
  std::string run;                 // only what changed while this run went on; "" is any time
  std::vector<std::string> paths;  // below the workspace; empty is all
  bool dry_run = false;            // only tell
  bool force = false;              // also what changed after the sandbox's last look at it
};
struct Restored {
  std::string path;
  std::string what;  // "restored", "removed", "refused"
  std::string why;   // it was refused
};
struct Restore {
  std::string sandbox;
  std::vector<Restored> files;  // in path order; what is as at the baseline already is left out
  std::vector<std::string> untouched;  // paths asked for that the sandbox never touched
};
// Puts files back as they were at ready (what was dirty then is dirty again, where that is known;
// else as the commit has them) and removes those the sandbox made. What somebody
// changed after the sandbox's last look is refused, so is what the baseline has no copy of. Each
// change is an event of the sandbox with the host as its actor. Fault::busy while a process has the
// sandbox.
Result<Restore> restore(const RestoreRequest& request);

// ---- tidying ------------------------------------------------------------------------------------

struct TidyRequest {
  std::string state_dir, config;  // `config` names plugins and how long journals are kept
  bool dry_run = false;           // only tell
};
// Destroys what ended processes left and what is out of its time, then removes old journals.
Result<std::vector<sandbox::Tidied>> gc(const TidyRequest& request);

struct RemoveRequest {
  TidyRequest tidy;
  std::vector<std::string> sandboxes;  // ids, or names of definitions
  bool purge = false;                  // the journal too
  bool force = false;                  // also one that a durable hook has not had
};
// Destroys the boxes of these sandboxes. One in use is Fault::busy in its entry.
Result<std::vector<sandbox::Tidied>> remove(const RemoveRequest& request);

// ---- inspect ------------------------------------------------------------------------------------

struct Check {
  std::string file;
  std::vector<std::string> sandboxes;
  std::vector<std::string> problems;  // empty: usable
};
// Reads a configuration, finds the plugins it names and checks each `with:`. Starts nothing.
Check check(const std::string& file);

Result<std::vector<plugin::Looked>> plugins(const std::string& config);

// Whether each is a debug category: of the host, or the name of a type of a plugin that ships or
// that `config` names. The error lists them.
Status check_categories(const std::vector<std::string>& categories, const std::string& config);

// The JSON Schema of a configuration file, for editors: with the names and settings of the plugins
// that ship, and of those that `config` names. "" reads no configuration, so the answer is the same
// for every user.
Result<std::string> schema(const std::string& config);

struct Version {
  std::string sandglass;
  std::string abi;  // "1.0"
};
Version version();

}  // namespace sandglass::api
