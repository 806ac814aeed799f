#include "plugin/instance.h"

#include <exception>
#include <mutex>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "config/json_schema.h"
#include "plugin/host.h"

namespace sandglass::plugin {

constexpr int64_t kStartLimit = 30'000'000'000;

struct Instance::State {
  State(const Type& of, std::string named, const config::Value& with, HostServices services)
      : type(of), host(std::move(named), of.name, with, std::move(services)) {}

  const Type& type;
  Host host;
  void* self = nullptr;
  bool alive = false;  // create() said SG_OK
  bool abandoned = false;
};

namespace {

// "hook 'log' (/usr/lib/sandglass/hook-log.so)"
std::string title(const Type& type) {
  return short_kind(type.kind) + " '" + type.name + "' (" + shown(type.file) + ")";
}

// Runs a function of the plugin. False, with a text, when it threw.
template <class F>
bool contained(const Type& type, std::string& text, F&& fn) {
  try {
    fn();
    return true;
  } catch (const std::exception& error) {
    text = title(type) + " threw an exception across the plugin border: " + shown(error.what());
  } catch (...) {
    text = title(type) + " threw something across the plugin border";
  }
  return false;
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

// What is stuck in a call stays whole for ever: its thread may still come back.
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
  if (state_->abandoned) {
    keep_for_ever(std::shared_ptr<State>(std::move(state_)));
    return;
  }
  std::string text;
  if (state_->alive &&
      !contained(state_->type, text, [this] { state_->type.abi->destroy(state_->self); }))
    log::error(text);
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

Status Instance::call(Call& call, const std::function<sg_status(void* self)>& fn) const {
  sg_status status = SG_E_FAILED;
  std::string threw;
  if (!contained(state_->type, threw, [&] { status = fn(state_->self); }))
    return fail(Fault::failed, std::move(threw));
  if (status == SG_OK) return {};
  return tl::unexpected(call.error(status));
}

}  // namespace sandglass::plugin
