#include "contract/providers/provider.h"

#include <poll.h>

#include <algorithm>
#include <stdexcept>

namespace sandglass::contract {
namespace {

sg_str str(const std::string& text) {
  return {text.data(), text.size()};
}
sg_bytes bytes(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}
std::string text(sg_str s) {
  return {s.data, s.len};
}

struct StringOut {
  sg_out abi{sizeof(sg_out), 0, [](sg_out* out, const void* data, size_t len) -> sg_status {
               reinterpret_cast<StringOut*>(out)->text.append(static_cast<const char*>(data), len);
               return SG_OK;
             }};
  std::string text;
};

struct RunIo {
  sg_io abi{};
  Ran* ran;
  const Command* command;
  std::string left;
};

sg_io run_io() {
  sg_io io{};
  io.struct_size = sizeof io;
  io.read_fd = -1;
  io.started = [](sg_io* self, const sg_started* what) -> sg_status {
    reinterpret_cast<RunIo*>(self)->ran->pid = what->pid;
    return SG_OK;
  };
  io.write = [](sg_io* self, int32_t stream, const void* data, size_t len) -> sg_status {
    auto* r = reinterpret_cast<RunIo*>(self);
    (stream == 1 ? r->ran->out : r->ran->err).append(static_cast<const char*>(data), len);
    if (r->command->on_output) r->command->on_output(r->ran->out);
    return SG_OK;
  };
  io.read = [](sg_io* self, void* data, size_t room, size_t* len) -> sg_status {
    auto* r = reinterpret_cast<RunIo*>(self);
    *len = std::min(room, r->left.size());
    std::copy_n(r->left.data(), *len, static_cast<char*>(data));
    r->left.erase(0, *len);
    return SG_OK;
  };
  return io;
}

struct WriteIo {
  sg_io abi{};
  std::string left;
  int fail_after;
};

Entry entry_of(const sg_entry& e) {
  return {std::string(reinterpret_cast<const char*>(e.name.data), e.name.len), "",
          static_cast<char>(e.type), e.mode, e.size};
}

}  // namespace

Box::Box(const std::string& name, const std::string& secrets)
    : dir_(std::make_unique<testing::TempDir>()),
      registry_({{std::string(SANDGLASS_PLUGIN_DIR) + "/provider-" + name + ".so", "", ""}}) {
  auto type = registry_.find(SG_KIND_PROVIDER, name);
  if (!type) throw std::runtime_error(type.error().text);
  auto instance = plugin::Instance::create(**type, name, config::Value::make_map(), {});
  if (!instance) throw std::runtime_error(instance.error().text);
  instance_ = *instance;
  table_ = instance_->methods<sg_provider>();
  auto id = create(dir_->path(), secrets);
  if (!id) throw std::runtime_error(id.error().text);
  id_ = *id;
}

Box::~Box() = default;

Status Box::call(const std::function<sg_status(void*, sg_call*)>& fn) {
  plugin::Call call({id_, mono_ns() + 20'000'000'000, nullptr});
  return instance_->call(call, [&](void* self) { return fn(self, call.abi()); });
}

Result<std::string> Box::create(const std::string& local_root, const std::string& secrets,
                                const std::string& snapshot) {
  const std::string key = "key:with%odd/bytes", owner = "the-owner", root = "/workspace",
                    json = "{}";
  sg_sandbox_spec spec{};
  spec.struct_size = sizeof spec;
  spec.key = str(key);
  spec.owner = str(owner);
  spec.root = str(root);
  spec.local_root = str(local_root);
  spec.json = str(json);
  spec.secrets = str(secrets);
  spec.snapshot = str(snapshot);
  StringOut out;
  Status done =
      call([&](void* self, sg_call* c) { return table_.create(self, c, &spec, &out.abi); });
  if (!done) return tl::unexpected(done.error());
  return out.text;
}

Status Box::destroy(const std::string& id) {
  return call([&](void* self, sg_call* c) { return table_.destroy(self, c, str(id)); });
}

Status Box::resume(const std::string& id) {
  return call([&](void* self, sg_call* c) { return table_.resume(self, c, str(id)); });
}

Result<std::string> Box::local_path(const std::string& id) {
  StringOut out;
  Status done =
      call([&](void* self, sg_call* c) { return table_.local_path(self, c, str(id), &out.abi); });
  if (!done) return tl::unexpected(done.error());
  return out.text;
}

std::vector<Held> Box::list(const std::string& owner) {
  struct Sink {
    sg_held_sink abi{sizeof(sg_held_sink), 0,
                     [](sg_held_sink* self, const sg_held* held) -> sg_status {
                       reinterpret_cast<Sink*>(self)->all.push_back(
                           {text(held->id), text(held->key), text(held->owner), held->state});
                       return SG_OK;
                     }};
    std::vector<Held> all;
  } sink;
  EXPECT_TRUE(
      call([&](void* self, sg_call* c) { return table_.list(self, c, str(owner), &sink.abi); }));
  return sink.all;
}

Status Box::wait_gone(plugin::Call& c) {
  return instance_->call(c, [&](void* self) { return table_.wait_gone(self, c.abi(), str(id_)); });
}

Ran Box::exec(const Command& command) {
  plugin::Call c({id_, mono_ns() + command.within_ms * 1'000'000, nullptr});
  return exec(command, c);
}

Ran Box::exec(const Command& command, plugin::Call& c) {
  std::vector<sg_bytes> argv, env;
  for (const std::string& word : command.argv) argv.push_back(bytes(word));
  for (const std::string& entry : command.env) env.push_back(bytes(entry));
  sg_exec what{};
  what.struct_size = sizeof what;
  what.flags = (command.tty ? uint32_t{SG_EXEC_TTY} : 0u) |
               (command.input.empty() ? 0u : uint32_t{SG_EXEC_STDIN});
  what.argv = argv.data();
  what.argc = argv.size();
  what.env = env.data();
  what.envc = env.size();
  what.cwd = bytes(command.cwd);
  what.tag = str(command.tag);
  what.rows = 24;
  what.columns = 80;
  Ran ran;
  ran.exit.struct_size = sizeof ran.exit;
  RunIo io{run_io(), &ran, &command, command.input};
  const int64_t start = mono_ns();
  ran.status = instance_->call(c, [&](void* self) {
    return table_.exec(self, c.abi(), str(id_), &what, &io.abi, &ran.exit);
  });
  ran.seconds = static_cast<double>(mono_ns() - start) / 1e9;
  return ran;
}

Status Box::signal(const std::string& tag, int signo) {
  return call(
      [&](void* self, sg_call* c) { return table_.signal(self, c, str(id_), str(tag), signo); });
}

Status Box::resize(const std::string& tag, uint32_t rows, uint32_t columns) {
  return call([&](void* self, sg_call* c) {
    return table_.resize(self, c, str(id_), str(tag), rows, columns);
  });
}

Result<Entry> Box::stat(const std::string& path) {
  sg_entry entry{};
  entry.struct_size = sizeof entry;
  StringOut target;
  Status done = call([&](void* self, sg_call* c) {
    return table_.stat(self, c, str(id_), bytes(path), &entry, &target.abi);
  });
  if (!done) return tl::unexpected(done.error());
  Entry out = entry_of(entry);
  out.target = target.text;
  return out;
}

Result<std::vector<Entry>> Box::list_dir(const std::string& path) {
  struct Sink {
    sg_entry_sink abi{
        sizeof(sg_entry_sink), 0,
        [](sg_entry_sink* self, const sg_entry* const* entries, size_t count) -> sg_status {
          for (size_t i = 0; i < count; ++i)
            reinterpret_cast<Sink*>(self)->all.push_back(entry_of(*entries[i]));
          return SG_OK;
        }};
    std::vector<Entry> all;
  } sink;
  Status done = call([&](void* self, sg_call* c) {
    return table_.list_dir(self, c, str(id_), bytes(path), &sink.abi);
  });
  if (!done) return tl::unexpected(done.error());
  return sink.all;
}

Result<std::string> Box::read(const std::string& path, uint64_t offset, uint64_t max) {
  StringOut out;
  Status done = call([&](void* self, sg_call* c) {
    return table_.read(self, c, str(id_), bytes(path), offset, max, &out.abi);
  });
  if (!done) return tl::unexpected(done.error());
  return out.text;
}

Status Box::write(const std::string& path, const std::string& data, uint32_t mode, char type,
                  int fail_after) {
  sg_entry as{};
  as.struct_size = sizeof as;
  as.type = static_cast<uint32_t>(type);
  as.mode = mode;
  WriteIo io{{}, data, fail_after};
  io.abi.struct_size = sizeof io.abi;
  io.abi.read_fd = -1;
  io.abi.read = [](sg_io* self, void* to, size_t room, size_t* len) -> sg_status {
    auto* w = reinterpret_cast<WriteIo*>(self);
    if (w->fail_after == 0) return SG_E_CANCELLED;
    if (w->fail_after > 0) --w->fail_after;
    *len = std::min(room, w->left.size());
    std::copy_n(w->left.data(), *len, static_cast<char*>(to));
    w->left.erase(0, *len);
    return SG_OK;
  };
  return call([&](void* self, sg_call* c) {
    return table_.write(self, c, str(id_), bytes(path), &as, &io.abi);
  });
}

Status Box::remove(const std::string& path) {
  return call(
      [&](void* self, sg_call* c) { return table_.remove(self, c, str(id_), bytes(path)); });
}

bool eventually(const std::function<bool()>& holds, int ms) {
  const int64_t end = mono_ns() + int64_t{ms} * 1'000'000;
  while (!holds()) {
    if (mono_ns() > end) return false;
    ::poll(nullptr, 0, 5);
  }
  return true;
}

}  // namespace sandglass::contract
