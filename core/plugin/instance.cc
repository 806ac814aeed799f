#include "plugin/instance.h"

#include <atomic>
#include <chrono>
#include <exception>
#include <future>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "config/json_schema.h"
#include "plugin/call_state.h"
#include "plugin/contain.h"
#include "plugin/host.h"

namespace sandglass::plugin {

constexpr int64_t kStartLimit = 30'000'000'000;
constexpr std::chrono::seconds kDestroyLimit(5);

// "hook 'log' (/usr/lib/sandglass/hook-log.so)"
static std::string title(const Type& type) {
  return short_kind(type.kind) + " '" + type.name + "' (" + shown(type.file) + ")";
}

struct Instance::State {
  State(const Type& of, std::string named, const config::Value& with, HostServices services)
      : type(of), host(std::move(named), of.name, with, std::move(services)) {}

  Type type;  // a thread that is left behind may outlive the registry
  Host host;
  void* self = nullptr;
  bool alive = false;  // create() said SG_OK
  bool abandoned = false;

  // Why nothing of it is called any more, or "".
  std::string quarantine() {
    if (has_stopped_thread(type.file))
      return title(type) + " ended a thread of its own with exit(): it is not used any more";
    if (!ended) return {};
    const std::lock_guard lock(mutex);
    return why;
  }
  bool is_quarantined() const { return ended || has_stopped_thread(type.file); }
  void set_quarantine(const std::string& text) {
    const std::lock_guard lock(mutex);
    why = text;
    ended = true;
  }
  static bool destroy(const std::shared_ptr<State>& state);

  std::mutex mutex;
  std::string why;  // under mutex
  std::atomic<bool> ended{false};
};

namespace {

// Runs a function of the plugin.
Status contained(const Type& type, const std::function<void()>& fn) {
  try {
    const auto ended = contain(fn);
    if (!ended) return {};
    return fail(Fault::plugin, title(type) + " called " + ended->text() +
                                   ", which would have ended sandglass: it is not used any more; "
                                   "restart sandglass to use it again");
  } catch (const std::exception& error) {
    return fail(Fault::failed, title(type) + " threw an exception across the plugin border: " +
                                   shown(error.what()));
  } catch (...) {
    return fail(Fault::failed, title(type) + " threw something across the plugin border");
  }
}

Status check_config(const Type& type, const config::Value& with) {
  if (type.schema.empty()) return {};
  const auto problems = config::check_against_json_schema(with, type.schema, "with");
  if (problems.empty()) return {};
  std::string text;
  for (const config::Problem& problem : problems) text += (text.empty() ? "" : "\n") + problem.text;
  return fail(Fault::config, std::move(text));
}

Status check_isolation(const Type& type) {
  if (!(type.flags & SG_TYPE_NEEDS_PROCESS)) return {};
  return fail(Fault::plugin, title(type) +
                                 " has to run in a process of its own (SG_TYPE_NEEDS_PROCESS), "
                                 "which this version of sandglass cannot do yet. Use a build "
                                 "of it that may be loaded into the host");
}

// The plugin, or a thread it forgot, may still look at what it was given: that stays to the end of
// the process. Where nobody is in it, it is small (Host::retire).
void keep_for_ever(std::shared_ptr<void> what) {
  static std::mutex mutex;
  static auto* kept = new std::vector<std::shared_ptr<void>>;
  std::lock_guard lock(mutex);
  kept->push_back(std::move(what));
}

}  // namespace

Result<std::shared_ptr<Instance>> Instance::create(const Type& type, std::string name,
                                                   const config::Value& with,
                                                   HostServices services) {
  if (Status s = check_isolation(type); !s) return tl::unexpected(s.error());
  auto state = std::make_unique<State>(type, std::move(name), with, std::move(services));
  Host& host = state->host;
  if (Status s = check_config(type, host.config()->value); !s) return tl::unexpected(s.error());

  std::shared_ptr<Instance> out(new Instance(std::move(state)));
  Call call({{}, mono_ns() + kStartLimit, nullptr});
  const Status created = out->call(call, [&](void*) {
    return type.abi->create(&host, call.abi(), host.config(), &out->state_->self);
  });
  const std::string complaint = host.take_complaint();
  out->state_->alive = created.has_value();
  if (!complaint.empty()) return fail(Fault::config, complaint);
  if (created) return out;
  return fail(created.error().fault, title(type) + " could not start: " + created.error().text);
}

Result<std::string> Instance::diagnose(const Type& type, const config::Value& with) {
  if (!type.abi->diagnose) return std::string();
  if (Status s = check_isolation(type); !s) return tl::unexpected(s.error());
  struct Text : sg_out {
    std::string bytes;
  } out{};
  out.struct_size = sizeof(sg_out);
  out.append = [](sg_out* to, const void* data, size_t len) -> sg_status {
    auto& bytes = static_cast<Text*>(to)->bytes;
    if (len > 65536 - bytes.size()) return SG_E_INVALID;
    bytes.append(static_cast<const char*>(data), len);
    return SG_OK;
  };
  auto state = std::make_unique<State>(type, type.name, with, HostServices{});
  Host& host = state->host;
  Instance asked(std::move(state));
  Call call({{}, mono_ns() + kStartLimit, nullptr});
  const Status status = asked.call(
      call, [&](void*) { return type.abi->diagnose(&host, call.abi(), host.config(), &out); });
  if (!status) return tl::unexpected(status.error());
  return std::move(out.bytes);
}

Instance::Instance(std::unique_ptr<State> state) : state_(std::move(state)) {}

Instance::~Instance() {
  const std::shared_ptr<State> state = std::move(state_);
  keep_for_ever(state);
  if (state->abandoned || state->is_quarantined()) return;
  if (state->alive && !State::destroy(state)) return;
  state->host.retire(title(state->type));
  state->type.schema = {};  // of what stays, the large part
}

// False when the plugin is not done with it.
bool Instance::State::destroy(const std::shared_ptr<State>& state) {
  auto done = std::make_shared<std::promise<void>>();
  const auto work = [state, done] {
    const Status ok = contained(state->type, [&] { state->type.abi->destroy(state->self); });
    if (!ok) log::error(ok.error().text);
    done->set_value();
  };
  std::thread thread;
  try {
    thread = std::thread(work);
  } catch (const std::system_error&) {  // no thread to be had
    work();
    return true;
  }
  if (done->get_future().wait_for(kDestroyLimit) == std::future_status::ready) {
    thread.join();
    return true;
  }
  thread.detach();
  log::error(title(state->type) + " does not return from destroy(): its thread is left behind");
  return false;
}

const Type& Instance::type() const {
  return state_->type;
}
const std::string& Instance::name() const {
  return state_->host.instance_name();
}
void* Instance::self() const {
  return state_->self;
}
void Instance::abandon() {
  state_->abandoned = true;
}
bool Instance::quarantined() const {
  return state_->is_quarantined();
}

Status Instance::call(Call& call, const std::function<sg_status(void* self)>& fn) const {
  if (std::string why = state_->quarantine(); !why.empty()) {
    Call::State::of(call.abi()).flags |= SG_FAIL_QUIET;  // said when it happened
    return fail(Fault::plugin, std::move(why));
  }
  sg_status status = SG_E_FAILED;
  const Status came_back = contained(state_->type, [&] { status = fn(state_->self); });
  if (!came_back) {
    if (came_back.error().fault == Fault::plugin) state_->set_quarantine(came_back.error().text);
    return came_back;
  }
  if (status == SG_OK) return {};
  return tl::unexpected(call.error(status));
}

}  // namespace sandglass::plugin
