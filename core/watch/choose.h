// Which watcher a sandbox gets.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "config/value.h"
#include "plugin/registry.h"
#include "plugin/services.h"
#include "watch/session.h"

namespace sandglass::watch {

struct Wanted {
  std::string name = "auto";  // a type name, or "auto"
  config::Value with = config::Value::make_map();
  plugin::HostServices services;  // exec, for those that look by commands
  int timeout_ms = 60'000;
};

struct Started {
  std::unique_ptr<Session> session;
  std::string watcher;  // type name
};

// Starts the first that proves itself (rule W2): for "auto" fanotify where the root is a file
// system of its own, inotify, poll; for another that one, and where it cannot be had those after it
// (fanotify, inotify, poll), which is warned of once. Each is asked (probe) and tried (the canary).
// Fails where none can be had, or where the name, or the settings for it, are wrong. The sink hears
// nothing of those that were passed over.
Result<Started> start_watcher(const plugin::Registry& registry, Wanted wanted, Target target,
                              const Sink& sink);

}  // namespace sandglass::watch
