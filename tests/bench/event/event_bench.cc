// What an event costs on its way: journal, bus hop, hook entry.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/clock.h"
#include "event/dispatch.h"
#include "support/temp_dir.h"

namespace sandglass {
namespace {

Event file_event() {
  Event e;
  e.kind = EventKind::file_change;
  e.topic = "sandbox.file";
  e.path = "src/some/where/file.c";
  e.time_ns = e.seen_ns = mono_ns();
  return e;
}

std::unique_ptr<Journal> open(const testing::TempDir& dir) {
  return std::move(*Journal::open(dir / "j.db", {"box-1", "/workspace"}));
}

void Journal_Burst(benchmark::State& state) {
  for (auto _ : state) {
    testing::TempDir dir;
    auto journal = open(dir);
    const int64_t began = mono_ns();
    for (int64_t i = 0; i < state.range(0) / 256; i++)
      journal->append(std::vector<Event>(256, file_event()));
    (void)journal->sync(60'000);
    state.SetIterationTime(static_cast<double>(mono_ns() - began) / 1e9);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(Journal_Burst)->Arg(256 * 1024)->UseManualTime()->Unit(benchmark::kMillisecond);

void Journal_OneEventCommitted(benchmark::State& state) {
  testing::TempDir dir;
  auto journal = open(dir);
  for (auto _ : state) {
    journal->append(file_event());
    (void)journal->sync(60'000);
  }
}
BENCHMARK(Journal_OneEventCommitted)->Unit(benchmark::kMicrosecond)->UseRealTime();

// A group, as one of a watcher's batches: committed together.
void Journal_GroupCommitted(benchmark::State& state) {
  testing::TempDir dir;
  auto journal = open(dir);
  for (auto _ : state) {
    journal->append(std::vector<Event>(static_cast<size_t>(state.range(0)), file_event()));
    (void)journal->sync(60'000);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(Journal_GroupCommitted)->Arg(16)->Arg(256)->Unit(benchmark::kMicrosecond)->UseRealTime();

void put_percentiles(benchmark::State& state, std::vector<int64_t>& ns) {
  if (ns.empty()) return;
  std::sort(ns.begin(), ns.end());
  state.counters["p50_us"] = static_cast<double>(ns[ns.size() / 2]) / 1e3;
  state.counters["p99_us"] = static_cast<double>(ns[ns.size() * 99 / 100]) / 1e3;
}

// From append() to the return of a cursor: of one that was asleep (wait 1 s), and of a busy one
// that asks again and again (wait 0).
void Bus_AppendToCursor(benchmark::State& state) {
  const int wait_ms = static_cast<int>(state.range(0));
  testing::TempDir dir;
  auto journal = open(dir);
  std::atomic<uint64_t> read{0};
  std::vector<int64_t> latency;
  std::thread reader([&, cursor = journal->subscribe(0)] {
    while (read < static_cast<uint64_t>(state.max_iterations))
      for (const EventPtr& event : cursor->next(64, wait_ms)) {
        latency.push_back(mono_ns() - event->seen_ns);
        read++;
      }
  });
  uint64_t sent = 0;
  for (auto _ : state) {
    journal->append(file_event());
    sent++;
    while (read < sent) std::this_thread::yield();
  }
  reader.join();
  put_percentiles(state, latency);
}
BENCHMARK(Bus_AppendToCursor)
    ->ArgName("wait_ms")
    ->Arg(1'000)
    ->Arg(0)
    ->Iterations(5'000)
    ->Unit(benchmark::kMicrosecond)
    ->UseRealTime();

std::vector<int64_t>* entries = nullptr;
std::atomic<uint64_t> delivered{0};
const sg_host* bench_host = nullptr;

sg_status create(const sg_host* host, sg_call*, const sg_config*, void** self) {
  bench_host = host;
  *self = const_cast<sg_host*>(host);
  return SG_OK;
}
void destroy(void*) {}
uint64_t interests(void*) {
  return SG_EV_ALL;
}
sg_status on_event(void*, sg_call*, const sg_event* event) {
  entries->push_back(mono_ns() - event->time_ns);  // file_event() stores the monotonic clock there
  delivered++;
  return SG_OK;
}
const sg_hook kHook = {sizeof(sg_hook), 0, interests, on_event, nullptr, nullptr};
const sg_type kType = {sizeof(sg_type), 0,      SG_KIND_HOOK, "bench", "",
                       nullptr,         &kHook, create,       destroy, nullptr};

// From append() to a hook's entry.
void Hook_AppendToEntry(benchmark::State& state) {
  testing::TempDir dir;
  auto journal = open(dir);
  std::vector<int64_t> latency;
  entries = &latency;
  delivered = 0;
  plugin::Type type;
  type.abi = &kType;
  type.kind = SG_KIND_HOOK;
  type.name = "bench";
  auto instance =
      plugin::Instance::create(type, "bench", config::Value::make_map(), event_services(*journal));
  auto dispatcher = Dispatcher::start(*journal, {{"bench", *instance, {SG_EV_FILES}}}, nullptr);
  uint64_t sent = 0;
  for (auto _ : state) {
    journal->append(file_event());
    sent++;
    while (delivered < sent) std::this_thread::yield();
  }
  dispatcher->stop(1'000);
  put_percentiles(state, latency);
}
BENCHMARK(Hook_AppendToEntry)->Iterations(5'000)->Unit(benchmark::kMicrosecond)->UseRealTime();

}  // namespace
}  // namespace sandglass

BENCHMARK_MAIN();
