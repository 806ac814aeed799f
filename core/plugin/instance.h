// A live instance of a plugin type, and the one way to call into it.
#pragma once

#include <sandglass/plugin.h>

#include <cstring>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "config/value.h"
#include "plugin/call.h"
#include "plugin/registry.h"

namespace sandglass::plugin {

// What floors above lend to an instance, as functions, so that nothing points up. An empty one is a
// service that is not offered. The process service is always there (core/proc).
struct HostServices {
  std::function<void(sg_call*, const sg_event*, uint32_t which, sg_content*)> content;
  std::function<sg_status(sg_call*, const sg_event*, uint32_t which, sg_out*)> stream;
  std::function<void(const sg_event*)> retain, release;
  std::function<sg_status(std::string_view sandbox_id, std::string_view topic, std::string_view json)> emit;
  std::function<sg_status(std::string_view sandbox_id, std::string_view run_id, std::string_view reason)>
      end_run;
  std::function<sg_status(sg_call*, std::string_view sandbox_id, const sg_exec*, sg_io*, sg_exit*)> exec;
  std::function<sg_status(sg_call*, std::string_view sandbox_id, sg_bytes path, uint64_t offset,
                          uint64_t max_bytes, sg_out*)>
      read;
};

// A copy of a plugin's table, cut or filled with zeros to the size this host knows.
template <class T>
T adopt(const void* methods) {
  T out{};
  uint32_t size = 0;
  std::memcpy(&size, methods, sizeof size);
  std::memcpy(&out, methods, size < sizeof(T) ? size : sizeof(T));
  out.struct_size = sizeof(T);
  return out;
}

class Instance {
 public:
  // Checks `with` against the type's schema (errors name file:line:col), then calls create().
  // `name` is for logs.
  static Result<std::shared_ptr<Instance>> create(const Type& type, std::string name,
                                                  const config::Value& with, HostServices services);
  ~Instance();  // destroy(), unless abandoned
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
  // crosses the boundary is caught and becomes Fault::failed that names the plugin.
  Status call(Call& call, const std::function<sg_status(void* self)>& fn) const;

  // The instance is stuck in a call that does not return: never destroy it.
  void abandon();

 private:
  struct State;
  explicit Instance(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sandglass::plugin
