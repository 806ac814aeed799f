// The host, an instance's configuration, and the call that is running.
#ifndef SANDGLASS_CPP_HOST_HPP
#define SANDGLASS_CPP_HOST_HPP

#include <sandglass/cpp/text.hpp>

namespace sandglass {
inline namespace sdk1 {

// Any thread. Valid as long as the instance.
class Host {
 public:
  explicit Host(const sg_host* host) : host_(host) {}
  const sg_host* abi() const { return host_; }

  std::string_view version() const { return view(host_->version); }
  uint64_t now_ns() const { return host_->now_ns(host_); }
  int64_t time_ms() const { return host_->time_ms(host_); }

  bool logs(uint32_t level) const { return host_->log_enabled(host_, level, nullptr) != 0; }
  void log(uint32_t level, std::string_view text) const {
    host_->log(host_, level, nullptr, str(text));
  }
  void debug(std::string_view text) const { log(SG_LOG_DEBUG, text); }
  void info(std::string_view text) const { log(SG_LOG_INFO, text); }
  void warn(std::string_view text) const { log(SG_LOG_WARN, text); }
  void error(std::string_view text) const { log(SG_LOG_ERROR, text); }

  // host.service<sg_process_service>(SG_SERVICE_PROCESS), or null where it is not offered.
  template <class T>
  const T* service(const char* id) const {
    return static_cast<const T*>(host_->service(host_, id));
  }

  // Publishes a custom event on the sandbox's stream.
  void emit(std::string_view sandbox_id, std::string_view topic, std::string_view json) const {
    const auto* events = service<sg_event_service>(SG_SERVICE_EVENT);
    if (!events || !events->emit) throw Error(SG_E_UNSUPPORTED, "this host takes no custom events");
    const sg_status status = events->emit(host_, str(sandbox_id), str(topic), str(json));
    if (status != SG_OK) throw Error(status, "the host refused a custom event");
  }
  // Ends the run with a reason.
  void end_run(std::string_view sandbox_id, std::string_view run_id,
               std::string_view reason) const {
    const auto* events = service<sg_event_service>(SG_SERVICE_EVENT);
    if (!events || !events->end_run) throw Error(SG_E_UNSUPPORTED, "this host cannot end a run");
    const sg_status status = events->end_run(host_, str(sandbox_id), str(run_id), str(reason));
    if (status != SG_OK) throw Error(status, "the host could not end the run");
  }

 private:
  const sg_host* host_;
};

// What YAML says below `with:`. A pointer is a JSON Pointer ("/retry/max"). Any thread; texts stay
// valid as long as the instance.
class Config {
 public:
  Config(const sg_host* host, const sg_config* config) : host_(host), config_(config) {}
  const sg_config* abi() const { return config_; }

  std::string_view json() const { return view(host_->config_json(host_, config_)); }
  uint32_t kind(const char* pointer) const { return host_->config_kind(host_, config_, pointer); }
  bool has(const char* pointer) const { return kind(pointer) > SG_CONFIG_NULL; }

  std::string_view text(const char* pointer, std::string_view fallback = {}) const {
    return view(host_->config_str(host_, config_, pointer, str(fallback)));
  }
  int64_t integer(const char* pointer, int64_t fallback) const {
    return host_->config_int(host_, config_, pointer, fallback);
  }
  double number(const char* pointer, double fallback) const {
    return host_->config_num(host_, config_, pointer, fallback);
  }
  bool flag(const char* pointer, bool fallback) const {
    return host_->config_bool(host_, config_, pointer, fallback ? 1 : 0) != 0;
  }
  int64_t duration_ns(const char* pointer, int64_t fallback) const {
    return host_->config_duration_ns(host_, config_, pointer, fallback);
  }
  int64_t size(const char* pointer, int64_t fallback) const {
    return host_->config_size(host_, config_, pointer, fallback);
  }
  size_t count(const char* pointer) const { return host_->config_count(host_, config_, pointer); }
  std::string_view key_at(const char* pointer, size_t index) const {
    return view(host_->config_key_at(host_, config_, pointer, index));
  }

 private:
  const sg_host* host_;
  const sg_config* config_;
};

// The call that is running: its thread only, and no longer than the function it was passed to.
class Call {
 public:
  Call(const sg_host* host, sg_call* call) : host_(host), call_(call) {}
  sg_call* abi() const { return call_; }

  std::string_view sandbox_id() const { return view(call_->sandbox_id); }
  const sg_run* run() const { return call_->run; }  // null outside a run
  uint64_t deadline_ns() const { return call_->deadline_ns; }
  int cancel_fd() const { return call_->cancel_fd; }
  bool cancelled() const { return host_->cancelled(host_, call_) != 0; }

  // False when timeout_ms passed first. Throws when the call is cancelled or out of time.
  bool wait(int fd, uint32_t events, int timeout_ms) const {
    const sg_status status = host_->wait(host_, call_, fd, events, timeout_ms);
    if (status == SG_OK) return true;
    if (status == SG_E_TIMEOUT && !cancelled()) return false;
    throw Error(status, status == SG_E_INVALID ? "no such descriptor" : "cancelled while waiting",
                SG_FAIL_QUIET);
  }
  bool sleep(int timeout_ms) const { return wait(-1, 0, timeout_ms); }

  void progress(uint64_t done, uint64_t total, std::string_view what) const {
    host_->progress(host_, call_, done, total, str(what));
  }

 private:
  const sg_host* host_;
  sg_call* call_;
};

namespace detail {

inline sg_status report(const sg_host* host, sg_call* call, const Error& error) noexcept {
  const sg_status status = error.status() == SG_OK ? sg_status{SG_E_FAILED} : error.status();
  return host->fail(host, call, status, error.flags(), str(error.where()), str(error.what()));
}

// Runs fn, which returns nothing or a sg_status, and lets no exception past. `call` may be null.
template <class F>
sg_status guard(const sg_host* host, sg_call* call, F&& fn) noexcept {
  try {
    if constexpr (std::is_void_v<decltype(fn())>) {
      fn();
      return SG_OK;
    } else {
      return fn();
    }
  } catch (const Error& error) {
    return report(host, call, error);
  } catch (const std::bad_alloc&) {
    return host->fail(host, call, SG_E_NO_MEMORY, 0, str({}), str("out of memory"));
  } catch (const std::exception& error) {
    return host->fail(host, call, SG_E_FAILED, 0, str({}), str(view(error.what())));
  } catch (...) {
    return host->fail(host, call, SG_E_FAILED, 0, str({}), str("threw something unknown"));
  }
}

}  // namespace detail
}  // namespace sdk1
}  // namespace sandglass

#endif  // SANDGLASS_CPP_HOST_HPP
