#include "sandbox/provider.h"

#include <tuple>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"

namespace sandglass::sandbox {
namespace {

sg_str str(const std::string& text) {
  return {text.c_str(), text.size()};
}
sg_bytes bytes(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.c_str()), text.size()};
}

struct StringOut {
  sg_out out;
  std::string text;

  StringOut() : out{sizeof(sg_out), 0, &append} {}
  static sg_status append(sg_out* self, const void* data, size_t len) {
    auto* me = reinterpret_cast<StringOut*>(self);
    if (me->text.size() + len > 64 * 1024) return SG_E_INVALID;  // ids and paths are short
    me->text.append(static_cast<const char*>(data), len);
    return SG_OK;
  }
};

struct HeldList {
  sg_held_sink sink;
  std::vector<Held> all;

  HeldList() : sink{sizeof(sg_held_sink), 0, &add} {}
  static sg_status add(sg_held_sink* self, const sg_held* given) {
    auto& all = reinterpret_cast<HeldList*>(self)->all;
    if (all.size() >= 100'000) return SG_E_INVALID;
    const auto held = plugin::adopt<sg_held>(given);
    all.push_back({std::string(held.id.data, held.id.len), std::string(held.key.data, held.key.len),
                   held.state, held.created_ns});
    return SG_OK;
  }
};

// sg_io over ExecIo. The plugin's thread is the caller's (tag [call]).
struct IoBridge {
  sg_io abi{};
  ExecIo* io;
  std::function<void()> on_started;

  IoBridge(ExecIo& to, std::function<void()> then) : io(&to), on_started(std::move(then)) {
    abi.struct_size = sizeof abi;
    abi.read_fd = to.input_fd;
    abi.started = &started;
    abi.write = &write;
    abi.read = &read;
  }
  static IoBridge* of(sg_io* abi) { return reinterpret_cast<IoBridge*>(abi); }
  static sg_status started(sg_io* abi, const sg_started* what) {
    of(abi)->on_started();
    if (of(abi)->io->started) of(abi)->io->started(what->pid);
    return SG_OK;
  }
  static sg_status write(sg_io* abi, int32_t stream, const void* data, size_t len) {
    if (of(abi)->io->output) of(abi)->io->output(stream, {static_cast<const char*>(data), len});
    return SG_OK;
  }
  static sg_status read(sg_io* abi, void* data, size_t room, size_t* len) {
    const auto& input = of(abi)->io->input;
    *len = input ? input({static_cast<char*>(data), room}) : 0;
    return SG_OK;
  }
};

}  // namespace

void Cancellation::cancel() {
  std::lock_guard lock(mutex_);
  cancelled_ = true;
  if (call_) call_->cancel();
}

bool Cancellation::cancelled() const {
  std::lock_guard lock(mutex_);
  return cancelled_;
}

void Cancellation::attach(plugin::Call* call) {
  std::lock_guard lock(mutex_);
  call_ = call;
  if (cancelled_) call->cancel();
}

void Cancellation::detach() {
  std::lock_guard lock(mutex_);
  call_ = nullptr;
}

void TerminalSize::set(uint32_t rows, uint32_t columns) {
  {
    std::lock_guard lock(mutex_);
    rows_ = rows;
    columns_ = columns;
  }
  push();
}

std::pair<uint32_t, uint32_t> TerminalSize::get() const {
  std::lock_guard lock(mutex_);
  return {rows_, columns_};
}

void TerminalSize::attach(Apply apply) {
  std::lock_guard lock(pushing_);
  apply_ = std::move(apply);
}

void TerminalSize::detach() {
  attach(nullptr);
}

void TerminalSize::push() {
  std::lock_guard lock(pushing_);
  const auto [rows, columns] = get();
  if (apply_) apply_(rows, columns);
}

Provider::Provider(std::shared_ptr<plugin::Instance> instance)
    : instance_(std::move(instance)), methods_(instance_->methods<sg_provider>()) {}

Result<std::unique_ptr<Provider>> Provider::open(const plugin::Registry& registry,
                                                 const config::Use& use) {
  auto type = registry.find(SG_KIND_PROVIDER, use.name);
  if (!type) return tl::unexpected(type.error());
  auto instance = plugin::Instance::create(**type, use.name, use.with, {});
  if (!instance) return tl::unexpected(instance.error());
  std::unique_ptr<Provider> provider(new Provider(std::move(*instance)));
  plugin::Call call({});
  const Status asked = provider->instance_->call(call, [&](void* self) {
    provider->capabilities_ = provider->methods_.capabilities(self);
    return SG_OK;
  });
  if (!asked) return tl::unexpected(asked.error());
  return provider;
}

bool Provider::offers(uint64_t capability) const {
  return (capabilities_ & capability) == capability;
}

Status Provider::call(const std::string& id, int64_t deadline_ns, Cancellation* cancel,
                      const sg_run* run, const std::function<sg_status(void*, sg_call*)>& fn) {
  plugin::Call call({id, deadline_ns, run});
  if (cancel) cancel->attach(&call);
  Status done = instance_->call(call, [&](void* self) { return fn(self, call.abi()); });
  if (cancel) cancel->detach();
  return done;
}

Status Provider::create(const CreateSpec& what, std::string& id, Cancellation& cancel,
                        int64_t deadline_ns) {
  static const std::string no_secrets = "{}";
  sg_sandbox_spec spec{};
  spec.struct_size = sizeof spec;
  spec.key = str(what.key);
  spec.owner = str(what.owner);
  spec.root = str(what.root);
  spec.local_root = str(what.local_root);
  spec.json = str(what.json);
  spec.secrets = str(no_secrets);
  spec.snapshot = str(what.snapshot);
  StringOut out;
  Status done = call("", deadline_ns, &cancel, nullptr, [&](void* self, sg_call* c) {
    return methods_.create(self, c, &spec, &out.out);
  });
  id = out.text;
  if (done && id.empty())
    return fail(Fault::failed, "provider " + name() + " made a sandbox without an id");
  return done;
}

Status Provider::destroy(const std::string& id, int64_t deadline_ns) {
  return call(id, deadline_ns, nullptr, nullptr,
              [&](void* self, sg_call* c) { return methods_.destroy(self, c, str(id)); });
}

Status Provider::lacks(const char* what) const {
  return fail(Fault::unsupported, "provider " + name() + " " + what);
}

Status Provider::resume(const std::string& id, int64_t deadline_ns) {
  if (!methods_.resume) return lacks("cannot go on with a box of an earlier process");
  return call(id, deadline_ns, nullptr, nullptr,
              [&](void* self, sg_call* c) { return methods_.resume(self, c, str(id)); });
}

Result<std::vector<Held>> Provider::held(Lister lister, const char* what, const std::string& owner,
                                         int64_t deadline_ns) {
  if (!lister) return tl::unexpected(lacks(what).error());
  HeldList list;
  Status done = call("", deadline_ns, nullptr, nullptr, [&](void* self, sg_call* c) {
    return lister(self, c, str(owner), &list.sink);
  });
  if (!done) return tl::unexpected(done.error());
  return std::move(list.all);
}

Result<std::vector<Held>> Provider::list(const std::string& owner, int64_t deadline_ns) {
  return held(methods_.list, "does not list its boxes", owner, deadline_ns);
}

Result<std::vector<Held>> Provider::snapshots(const std::string& owner, int64_t deadline_ns) {
  return held(methods_.snapshots, "does not list its snapshots", owner, deadline_ns);
}

Result<std::string> Provider::snapshot(const std::string& id, int64_t deadline_ns) {
  if (!methods_.snapshot) return tl::unexpected(lacks("takes no snapshots").error());
  StringOut out;
  Status done = call(id, deadline_ns, nullptr, nullptr, [&](void* self, sg_call* c) {
    return methods_.snapshot(self, c, str(id), &out.out);
  });
  if (!done) return tl::unexpected(done.error());
  return out.text;
}

Status Provider::snapshot_delete(const std::string& snapshot, int64_t deadline_ns) {
  if (!methods_.snapshot_delete) return lacks("does not remove snapshots");
  return call("", deadline_ns, nullptr, nullptr, [&](void* self, sg_call* c) {
    return methods_.snapshot_delete(self, c, str(snapshot));
  });
}

Result<std::string> Provider::local_path(const std::string& id, int64_t deadline_ns) {
  if (!offers(SG_CAP_LOCAL_PATH) || !methods_.local_path)
    return fail(Fault::unsupported,
                "provider " + name() + " does not show its workspace on this machine");
  StringOut out;
  Status done = call(id, deadline_ns, nullptr, nullptr, [&](void* self, sg_call* c) {
    return methods_.local_path(self, c, str(id), &out.out);
  });
  if (!done) return tl::unexpected(done.error());
  return out.text;
}

Result<ExecExit> Provider::exec(const std::string& id, const Exec& what, ExecIo& io,
                                Cancellation& cancel, const sg_run* run) {
  std::vector<sg_bytes> argv, env;
  for (const std::string& a : what.argv) argv.push_back(bytes(a));
  for (const std::string& e : what.env) env.push_back(bytes(e));
  sg_exec exec{};
  exec.struct_size = sizeof exec;
  exec.flags =
      (what.tty ? uint32_t{SG_EXEC_TTY} : 0u) | (what.with_input ? uint32_t{SG_EXEC_STDIN} : 0u);
  exec.argv = argv.data();
  exec.argc = argv.size();
  exec.env = env.data();
  exec.envc = env.size();
  exec.cwd = bytes(what.cwd);
  exec.tag = str(what.tag);
  std::tie(exec.rows, exec.columns) = io.size ? io.size->get() : std::pair(what.rows, what.columns);
  sg_exit ended{};
  ended.struct_size = sizeof ended;
  // Only what has started can be resized: a change before that is made up for then.
  IoBridge bridge(io, [&] {
    if (!io.size || !what.tty) return;
    io.size->attach([&](uint32_t rows, uint32_t columns) {
      if (Status done = resize(id, what.tag, rows, columns); !done)
        log::debug("sandbox", "the terminal keeps its size: " + done.error().text);
    });
    if (io.size->get() != std::pair(exec.rows, exec.columns)) io.size->push();
  });
  Status done = call(id, what.deadline_ns, &cancel, run, [&](void* self, sg_call* c) {
    return methods_.exec(self, c, str(id), &exec, &bridge.abi, &ended);
  });
  if (io.size) io.size->detach();
  if (!done) return tl::unexpected(done.error());
  return ExecExit{ended.how, ended.value, ended.survivors};
}

Status Provider::resize(const std::string& id, const std::string& tag, uint32_t rows,
                        uint32_t columns) {
  constexpr int64_t kLimit = 2'000'000'000;
  if (!methods_.resize)
    return fail(Fault::unsupported, "provider " + name() + " cannot resize a terminal");
  return call(id, mono_ns() + kLimit, nullptr, nullptr, [&](void* self, sg_call* c) {
    return methods_.resize(self, c, str(id), str(tag), rows, columns);
  });
}

bool Provider::wait_gone(const std::string& id, Cancellation& cancel) {
  if (!methods_.wait_gone) return false;
  Status done = call(id, 0, &cancel, nullptr,
                     [&](void* self, sg_call* c) { return methods_.wait_gone(self, c, str(id)); });
  return done.has_value() && !cancel.cancelled();
}

}  // namespace sandglass::sandbox
