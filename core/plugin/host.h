// What one instance of a plugin sees of the host: its sg_host, its configuration and the services.
#pragma once

#include <sandglass/plugin.h>

#include <atomic>
#include <mutex>
#include <new>
#include <string>
#include <string_view>

#include "config/value.h"
#include "plugin/services.h"

// The configuration handle of the ABI.
struct sg_config {
  sandglass::config::Value value;
  std::string json;  // canonical
};

namespace sandglass::plugin {

// At one address to the end of the process: plugins keep the pointer, some for too long (retire()).
// Its functions may be called on any thread; Host itself belongs to Instance.
class Host : public sg_host {
 public:
  // `category` is the plugin's own (its type's name), `named` the instance's for warnings and
  // errors.
  Host(std::string named, std::string category, config::Value with, HostServices services);
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  static Host& of(const sg_host* host) { return *static_cast<Host*>(const_cast<sg_host*>(host)); }

  const sg_config* config() const { return &config_; }
  const HostServices& services() const { return services_; }
  const std::string& instance_name() const { return name_; }
  const std::string& category() const { return category_; }
  uint64_t number() const { return number_; }  // of this host alone, for ever

  // Where the key "endpoint.url" stands: "sandglass.yaml:3:5: endpoint.url", or just the key.
  std::string place_of(std::string_view key) const;

  // A getter met a value it could not use. While create() runs it is kept and refuses the instance;
  // later it is logged as an error.
  void complain(std::string text);
  // What was kept; from here on it is logged.
  std::string take_complaint();

  const void* find_service(std::string_view id) const;  // SG_SERVICE_*, or null

  // The instance is destroyed, but a thread that the plugin forgot may still come: from here on
  // every function answers at once as if there were nothing, and the first to come is logged with
  // `who`. What was lent and the configuration are let go as soon as nobody is in a function; waits
  // for that, a second at most.
  void retire(std::string who);
  // Each function of the tables holds one while it looks at the Host. False: retired, hands off.
  class Use {
   public:
    explicit Use(const sg_host* host);
    ~Use() { host_.users_--; }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    explicit operator bool() const { return !retired_; }

   private:
    Host& host_;
    bool retired_;
  };

 private:
  const uint64_t number_;
  std::string name_, category_;
  sg_config config_;
  HostServices services_;
  sg_event_service event_{};
  sg_sandbox_service sandbox_{};

  std::atomic<int> users_{0};
  std::atomic<bool> retired_{false}, said_{false};
  std::string who_;  // set before retired_

  std::mutex mutex_;
  std::string complaint_;  // under mutex_
  bool starting_ = true;   // under mutex_
};

// The tables' functions, by file. Private to this folder.
void fill_config_getters(sg_host& host);                           // host_config.cc
sg_event_service event_service(const HostServices& services);      // services.cc
sg_sandbox_service sandbox_service(const HostServices& services);  // services.cc
extern const sg_process_service process_service;                   // process.cc

// Records why a call fails, as host->fail() does; `call` may be null: then it is logged.
sg_status fail_call(const sg_host* host, sg_call* call, sg_status status, uint32_t flags,
                    std::string_view where, std::string_view text);

// Runs fn, which returns a sg_status; what it throws becomes one.
template <class F>
sg_status guarded(const sg_host* host, sg_call* call, F&& fn) noexcept {
  const Host::Use use(host);
  if (!use) return SG_E_LOST;
  try {
    return fn();
  } catch (const std::bad_alloc&) {
    return SG_E_NO_MEMORY;
  } catch (...) {
    return fail_call(host, call, SG_E_FAILED, 0, {}, "the host failed inside");
  }
}

}  // namespace sandglass::plugin
