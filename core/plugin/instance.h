// A live instance of a plugin type, and the one way to call into it.
#pragma once

#include <sandglass/plugin.h>

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "config/value.h"
#include "plugin/abi.h"
#include "plugin/call.h"
#include "plugin/registry.h"
#include "plugin/services.h"

namespace sandglass::plugin {

// Any thread, except where said. Which functions of a plugin may run at once is the caller's to
// keep (the tags of plugin.h).
class Instance {
 public:
  // Checks `with` (a map, or null) against the type's schema (errors name file:line:col), then
  // calls create(). A configuration value that create() asked for and could not be read refuses it
  // too. `name` is for logs.
  static Result<std::shared_ptr<Instance>> create(const Type& type, std::string name,
                                                  const config::Value& with, HostServices services);
  // What the plugin's diagnose() says of itself: JSON, or "" when it has nothing to say. Makes no
  // instance.
  static Result<std::string> diagnose(const Type& type, const config::Value& with);
  // destroy(), unless abandoned or quarantined, on a thread that is left behind when it does not
  // return within 5 s. No call is running. The sg_host stays in memory (Host::retire).
  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  const Type& type() const;
  const std::string& name() const;
  void* self() const;

  // The plugin's table as T (sg_hook, sg_provider, sg_watcher).
  template <class T>
  T methods() const {
    return adopt<T>(type().abi->methods);
  }

  // Runs fn(self) and turns its status into an Error with the plugin's own words. An exception that
  // crosses the boundary is caught and becomes Fault::failed that names the plugin. When the plugin
  // ends the process in there (contain.h), that is Fault::plugin and the instance is quarantined:
  // each later call is not made, its Error is the same and its fail_flags are SG_FAIL_QUIET. fn
  // itself holds nothing that has to be unwound.
  Status call(Call& call, const std::function<sg_status(void* self)>& fn) const;

  // The plugin has ended the process, or a thread: nothing of it is called any more, destroy()
  // neither.
  bool quarantined() const;

  // The instance is stuck in a call that does not return: never destroy it. What the plugin may
  // still look at (its sg_host, its configuration) stays in memory to the end of the process; the
  // caller keeps the Call itself alive.
  void abandon();

 private:
  struct State;
  explicit Instance(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sandglass::plugin
