// What a call over the plugin border costs beside a call inside the program, and what the host
// adds.
#include <benchmark/benchmark.h>
#include <dlfcn.h>

#include <array>
#include <cstdio>

#include "base/clock.h"
#include "base/fd.h"
#include "counting.h"
#include "event/delivered.h"
#include "plugin/instance.h"
#include "plugin/registry.h"
#include "support/temp_dir.h"

namespace sandglass {
namespace {

constexpr size_t kBatch = 64;  // as the lane's

// A loaded plugin, an instance of it with all services, and events as a lane makes them.
class Loaded {
 public:
  static Loaded& get() {
    static Loaded loaded;
    return loaded;
  }

  plugin::Instance& instance() { return *instance_; }
  const sg_hook& hook() const { return hook_; }
  const sg_event* event() const { return events_[0]; }
  const std::array<const sg_event*, kBatch>& events() const { return events_; }
  const sg_host* host() const { return host_; }

 private:
  Loaded() {
    const auto type = registry_.find(SG_KIND_HOOK, "counting");
    if (!type) fail(type.error());
    auto made = plugin::Instance::create(**type, "counting", config::Value::make_map(),
                                         event_services(*journal_));
    if (!made) fail(made.error());
    instance_ = *made;
    hook_ = instance_->methods<sg_hook>();
    void* library = ::dlopen(SANDGLASS_COUNTING, RTLD_NOW | RTLD_NOLOAD);
    if (!library) fail({Fault::failed, ::dlerror()});
    host_ = reinterpret_cast<const sg_host* (*)()>(::dlsym(library, "bench_host"))();
    const auto desk = std::make_shared<ContentDesk>([](const Event&, git::Which, bool) {
      git::Piece piece;
      piece.state = git::PieceState::here;
      piece.bytes.assign(4096, 'x');
      return piece;
    });
    for (size_t i = 0; i < kBatch; i++) {
      auto event = std::make_shared<Event>();
      event->seq = i + 1;
      event->kind = EventKind::file_change;
      event->topic = "sandbox.file";
      event->path = "src/some/where/file.c";
      events_[i] = DeliveredEvent::make(journal_->origin(), event, desk);
    }
  }
  ~Loaded() {
    for (const sg_event* event : events_) DeliveredEvent::of(event).release();
  }
  [[noreturn]] static void fail(const Error& error) {
    std::fprintf(stderr, "%s\n", error.text.c_str());
    std::exit(1);
  }

  testing::TempDir dir_;
  std::unique_ptr<Journal> journal_ =
      std::move(*Journal::open(dir_ / "j.db", {"box-1", "/workspace"}));
  plugin::Registry registry_{{{SANDGLASS_COUNTING, "", "bench"}}};
  std::shared_ptr<plugin::Instance> instance_;
  sg_hook hook_{};
  const sg_host* host_ = nullptr;
  std::array<const sg_event*, kBatch> events_{};
};

int64_t limit() {
  return mono_ns() + 10'000'000'000;
}

void Call_Direct(benchmark::State& state) {
  Loaded& loaded = Loaded::get();
  plugin::Call call({"box-1", limit(), nullptr});
  uint64_t sum = 0;
  for (auto _ : state) benchmark::DoNotOptimize(direct_on_event(&sum, call.abi(), loaded.event()));
}
BENCHMARK(Call_Direct);

// Through the table that adopt() copied: what the border itself costs.
void Call_Table(benchmark::State& state) {
  Loaded& loaded = Loaded::get();
  plugin::Call call({"box-1", limit(), nullptr});
  void* self = loaded.instance().self();
  sg_hook hook = loaded.hook();
  benchmark::DoNotOptimize(hook);
  for (auto _ : state) benchmark::DoNotOptimize(hook.on_event(self, call.abi(), loaded.event()));
}
BENCHMARK(Call_Table);

// The least a host can add: an exception barrier, and a look at the status.
void Call_TableAndBarrier(benchmark::State& state) {
  Loaded& loaded = Loaded::get();
  plugin::Call call({"box-1", limit(), nullptr});
  void* self = loaded.instance().self();
  sg_hook hook = loaded.hook();
  benchmark::DoNotOptimize(hook);
  uint64_t failed = 0;
  for (auto _ : state) {
    try {
      if (hook.on_event(self, call.abi(), loaded.event()) != SG_OK) failed++;
    } catch (...) {
      failed++;
    }
  }
  benchmark::DoNotOptimize(failed);
}
BENCHMARK(Call_TableAndBarrier);

// With the exception barrier and the status turned into a Status.
void Call_Instance(benchmark::State& state) {
  Loaded& loaded = Loaded::get();
  plugin::Call call({"box-1", limit(), nullptr});
  const sg_hook hook = loaded.hook();
  for (auto _ : state) {
    Status done = loaded.instance().call(
        call, [&](void* self) { return hook.on_event(self, call.abi(), loaded.event()); });
    benchmark::DoNotOptimize(done);
  }
}
BENCHMARK(Call_Instance);

// With a Call of its own: a deadline, and a descriptor to cancel it by.
void Call_InstanceAndItsCall(benchmark::State& state) {
  Loaded& loaded = Loaded::get();
  const sg_hook hook = loaded.hook();
  for (auto _ : state) {
    plugin::Call call({"box-1", limit(), nullptr});
    Status done = loaded.instance().call(
        call, [&](void* self) { return hook.on_event(self, call.abi(), loaded.event()); });
    benchmark::DoNotOptimize(done);
  }
}
BENCHMARK(Call_InstanceAndItsCall);

// The peer of what a Call adds: its descriptor.
void Eventfd_MadeAndClosed(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(make_eventfd());
}
BENCHMARK(Eventfd_MadeAndClosed);

void Batch_Table(benchmark::State& state) {
  Loaded& loaded = Loaded::get();
  plugin::Call call({"box-1", limit(), nullptr});
  void* self = loaded.instance().self();
  sg_hook hook = loaded.hook();
  benchmark::DoNotOptimize(hook);
  size_t accepted = 0;
  for (auto _ : state)
    benchmark::DoNotOptimize(
        hook.on_batch(self, call.abi(), loaded.events().data(), kBatch, &accepted));
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kBatch));
}
BENCHMARK(Batch_Table);

void Batch_InstanceAndItsCall(benchmark::State& state) {
  Loaded& loaded = Loaded::get();
  const sg_hook hook = loaded.hook();
  size_t accepted = 0;
  for (auto _ : state) {
    plugin::Call call({"box-1", limit(), nullptr});
    Status done = loaded.instance().call(call, [&](void* self) {
      return hook.on_batch(self, call.abi(), loaded.events().data(), kBatch, &accepted);
    });
    benchmark::DoNotOptimize(done);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kBatch));
}
BENCHMARK(Batch_InstanceAndItsCall);

// content() of an event that was asked before: nothing is read.
void Content_Remembered(benchmark::State& state) {
  Loaded& loaded = Loaded::get();
  plugin::Call call({"box-1", limit(), nullptr});
  const auto* service =
      static_cast<const sg_event_service*>(loaded.host()->service(loaded.host(), SG_SERVICE_EVENT));
  sg_content content{};
  content.struct_size = sizeof content;
  for (auto _ : state) {
    service->content(loaded.host(), call.abi(), loaded.event(), SG_AFTER, &content);
    benchmark::DoNotOptimize(content);
  }
  if (content.state != SG_CONTENT_HERE) state.SkipWithError("no content");
}
BENCHMARK(Content_Remembered);

// Whether a debug line is wanted: asked before each.
void Host_Logs(benchmark::State& state) {
  Loaded& loaded = Loaded::get();
  for (auto _ : state)
    benchmark::DoNotOptimize(loaded.host()->log_enabled(loaded.host(), SG_LOG_DEBUG, nullptr));
}
BENCHMARK(Host_Logs);

}  // namespace
}  // namespace sandglass

BENCHMARK_MAIN();
