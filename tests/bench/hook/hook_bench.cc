// What the hook `command` costs an event, beside posix_spawn of the same program in the same run.
// Goal: less than 3 ms over it.
#include <benchmark/benchmark.h>
#include <sandglass/plugin.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

#include "base/clock.h"
#include "plugin/instance.h"
#include "plugin/registry.h"
#include "proc/child.h"

namespace sandglass {
namespace {

constexpr char kProgram[] = "/bin/true";

void posix_spawn_and_wait(benchmark::State& state) {
  char name[] = "true";
  char* const argv[] = {name, nullptr};
  for (auto _ : state) {
    pid_t pid;
    int status = 0;
    if (::posix_spawn(&pid, kProgram, nullptr, nullptr, argv, environ) != 0 ||
        ::waitpid(pid, &status, 0) != pid || status != 0) {
      return state.SkipWithError("cannot run the program");
    }
  }
}
BENCHMARK(posix_spawn_and_wait)->UseRealTime()->Unit(benchmark::kMicrosecond);

void process_run(benchmark::State& state) {
  proc::Spawn what;
  what.argv = {kProgram};
  for (auto _ : state) {
    proc::Io io;
    const auto ended = proc::run(what, io, {});
    if (!ended || ended->value != 0) return state.SkipWithError("cannot run the program");
  }
}
BENCHMARK(process_run)->UseRealTime()->Unit(benchmark::kMicrosecond);

std::shared_ptr<plugin::Instance> command_hook(const plugin::Registry& registry) {
  const auto type = registry.find(SG_KIND_HOOK, "command");
  if (!type) throw std::runtime_error(type.error().text);
  config::Value run = config::Value::make_list();
  run.list.push_back(config::Value::of(std::string(kProgram)));
  config::Value with = config::Value::make_map();
  with.set("run", std::move(run));
  auto made = plugin::Instance::create(**type, "bench", with, {});
  if (!made) throw std::runtime_error(made.error().text);
  return *made;
}

void command_hook_event(benchmark::State& state) {
  const plugin::Registry registry(
      {{std::string(SANDGLASS_PLUGIN_DIR) + "/hook-command.so", {}, {}}});
  const auto instance = command_hook(registry);
  const auto hook = instance->methods<sg_hook>();
  sg_event event{};
  event.struct_size = sizeof event;
  event.kind = SG_EV_FILE_CHANGE;
  event.id = {"box/1", 5};
  event.sandbox_id = {"box", 3};
  event.topic = {"sandbox.file", 12};
  event.path = {reinterpret_cast<const uint8_t*>("/workspace/a.c"), 14};
  event.relative = {reinterpret_cast<const uint8_t*>("a.c"), 3};
  for (auto _ : state) {
    plugin::Call call({"box", mono_ns() + 10'000'000'000, nullptr});
    const Status done =
        instance->call(call, [&](void* self) { return hook.on_event(self, call.abi(), &event); });
    if (!done) return state.SkipWithError(done.error().text.c_str());
  }
}
BENCHMARK(command_hook_event)->UseRealTime()->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace sandglass

BENCHMARK_MAIN();
