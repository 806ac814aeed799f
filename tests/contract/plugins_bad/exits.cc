// Ends the process where it must not (case P7): `with: {in: on_event, by: exit}` and so on.
#include <pthread.h>
#include <sandglass/plugin.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <thread>

namespace {

struct Self {
  const sg_host* host;
  std::string in, by;
};

void end(const std::string& by) {
  if (by == "quick_exit") std::quick_exit(3);
  if (by == "_exit") ::_exit(3);
  if (by == "_Exit") std::_Exit(3);
  if (by == "pthread_exit") ::pthread_exit(nullptr);
  if (by == "fork") {  // a child of its own ends as it likes
    if (::fork() == 0) ::_exit(3);
    return;
  }
  std::exit(3);
}

void end_in(const void* self, const char* function) {
  const auto& me = *static_cast<const Self*>(self);
  if (me.in == function) end(me.by);
}

// While the host runs a command for it.
sg_status run_command(const Self& me, sg_call* call) {
  struct Io : sg_io {
    const Self* me;
  } io{};
  io.struct_size = sizeof(sg_io);
  io.read_fd = -1;
  io.me = &me;
  io.started = [](sg_io* self, const sg_started*) -> sg_status {
    end_in(static_cast<Io*>(self)->me, "started");
    return SG_OK;
  };
  io.write = [](sg_io* self, int32_t, const void*, size_t) -> sg_status {
    end_in(static_cast<Io*>(self)->me, "write");
    return SG_OK;
  };
  const auto bytes = [](const char* text) {
    return sg_bytes{reinterpret_cast<const uint8_t*>(text), std::char_traits<char>::length(text)};
  };
  const sg_bytes argv[] = {bytes("/bin/sh"), bytes("-c"), bytes("echo up; exec sleep 4322")};
  sg_exec exec{};
  exec.struct_size = sizeof exec;
  exec.argv = argv;
  exec.argc = 3;
  const auto* process =
      static_cast<const sg_process_service*>(me.host->service(me.host, SG_SERVICE_PROCESS));
  return process->run(me.host, call, &exec, &io, nullptr);
}

uint64_t interests(void* self) {
  end_in(self, "interests");
  return SG_EV_ALL;
}

sg_status on_event(void* self, sg_call* call, const sg_event*) {
  const auto& me = *static_cast<Self*>(self);
  end_in(self, "on_event");
  if (me.in == "started" || me.in == "write") return run_command(me, call);
  if (me.in == "thread") std::thread([by = me.by] { end(by); }).detach();
  return SG_OK;
}

sg_status create(const sg_host* host, sg_call*, const sg_config* config, void** self) {
  const auto text = [&](const char* key) {
    const sg_str value = host->config_str(host, config, key, {"", 0});
    return std::string(value.data, value.len);
  };
  const Self made{host, text("/in"), text("/by")};
  end_in(&made, "create");
  *self = new Self(made);
  return SG_OK;
}

void destroy(void* self) {
  const Self copy = *static_cast<Self*>(self);
  delete static_cast<Self*>(self);
  end_in(&copy, "destroy");
}

const sg_hook hook = {sizeof(sg_hook), 0, interests, on_event, nullptr, nullptr};
const sg_type type = {sizeof(sg_type), 0,     SG_KIND_HOOK, "exits", "Ends the process",
                      nullptr,         &hook, create,       destroy, nullptr};
const sg_type* const types[] = {&type, nullptr};

}  // namespace

const sg_plugin sg_plugin_v1 = {sizeof(sg_plugin), SG_ABI_MAJOR, SG_ABI_MINOR, 0,    "test.exits",
                                "1.0.0",           nullptr,      nullptr,      types};
