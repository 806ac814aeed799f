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
  FileEvents file_events;
  std::vector<std::string> redact;  // patterns whose content nobody gets
  std::vector<HookBinding> hooks;
  Place place;
  std::string json;  // canonical: id, provider, workspace; for keys and for providers. Hooks and
                     // watching are not in it: they may change while a box lives
};

struct Configuration {
  std::vector<PluginFile> plugins;
  std::map<std::string, Definition> sandboxes;
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

// What runs without any file: provider local, watcher auto, hook log on every file event.
Definition default_definition();

}  // namespace sandglass::config
