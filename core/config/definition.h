// What a configuration file says, typed. After load() nobody parses again.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/expand.h"
#include "config/problem.h"
#include "config/value.h"

namespace sandglass::config {

struct Use {  // {use: NAME, with: {...}} or just NAME
  std::string name;
  Value with;
  Place place;
};

enum class HookPoint { file, file_create, file_change, file_delete, ready, error, destroy };

struct HookBinding {
  HookPoint point = HookPoint::file;
  Use use;
  std::string name;  // `name:`, or the type's name
  int64_t timeout_ns = 10'000'000'000;
  bool durable = false;  // named then, and the only durable one of that name
};

enum class BaselineAt { head, snapshot, automatic };  // automatic: outside git, snapshot
enum class Reuse { none, thread };
enum class SnapshotAt { none, after_setup, after_run };

struct Lifecycle {
  Reuse reuse = Reuse::none;
  int64_t keep_alive_ns = 86'400'000'000'000;  // after the last run, where it is reused
  bool destroy_on_complete = true;             // by default: unless it is reused
  SnapshotAt snapshot = SnapshotAt::none;
  int64_t snapshot_max_age_ns = 7 * 86'400'000'000'000;
};

struct PluginFile {
  std::string path;    // absolute; relative ones are resolved against the file
  std::string sha256;  // pin, or empty
  Place place;
};

struct FileEvents {
  bool enabled = true;
  bool required = true;  // without a watcher the sandbox fails
  bool diff = false;     // one sandbox.file.diff per event on the stream
  std::string watcher = "auto";
  Value watcher_with;
  int64_t interval_ns = 700'000'000;
  std::vector<std::string> ignore = {".git", "node_modules"};
};

struct Definition {
  std::string id;         // empty: the built-in default
  Use provider;           // default: local
  std::string workspace;  // directory of this machine; absolute, or empty: decided by the command
  std::string root = "/workspace";
  BaselineAt baseline = BaselineAt::head;
  Lifecycle lifecycle;
  FileEvents file_events;
  std::vector<std::string> redact;  // patterns whose content nobody gets
  bool binary_full = false;         // patches of binary files are ones that git apply takes
  std::vector<HookBinding> hooks;
  Place place;
  std::string json;  // canonical: id, provider, workspace; for keys and for providers. Hooks,
                     // watching and lifecycle are not in it: they may change while a box lives
};

// How long journals are kept (rule P2).
struct Retention {
  int64_t age_ns = 30 * 86'400'000'000'000;  // after the sandbox ended
  uint64_t bytes = 1'000'000'000;            // all journals of the state directory together
};

struct Configuration {
  std::vector<PluginFile> plugins;
  std::map<std::string, Definition> sandboxes;
  Retention retention;
  std::vector<std::string> debug;  // categories; "all"
};

struct Loaded {
  Configuration configuration;
  std::vector<Problem> problems;  // not empty: unusable
};

// Reads a file and everything it includes. Never looks into a workspace (rule D7): callers pass
// only
// --config or the folders of default_files(). `environment` answers ${NAME} (null: not set). Places
// name files as they were given; paths in them are relative to the file they stand in.
Loaded load(const std::string& file, Environment environment);
Loaded load_text(std::string_view yaml, const std::string& name, Environment environment);

// The user's, then the system's file, whichever exist: $XDG_CONFIG_HOME/sandglass/sandglass.yaml,
// /etc/sandglass/sandglass.yaml.
std::vector<std::string> default_files();

// The provider out of a Definition::json, with its settings.
Result<Use> provider_of_identity(const std::string& json);

// What runs without any file: provider local, watcher auto, hook log on every file event, outside
// git compared with the files at the start.
Definition default_definition();

}  // namespace sandglass::config
