// How long after a written file is closed (from the call of close) do its readers know? One writer,
// a file every 2 ms, three readers of the same writes in the same run: a bare inotify reader, the
// watcher's sink, and a hook's entry behind watcher, judge, journal and bus. usage: path_bench
// [FILES] [DIRECTORY] [WATCHER]
#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "base/fd.h"
#include "event/dispatch.h"
#include "plugin/registry.h"
#include "support/temp_dir.h"
#include "watch/session.h"

namespace {

using namespace sandglass;

// When a reader first heard of each file.
struct Times {
  std::mutex mutex;
  std::vector<int64_t> at;
  explicit Times(size_t count) : at(count) {}
  void note(std::string_view name) {
    const int64_t now = mono_ns();
    if (name.empty() || name[0] != 'f') return;
    const auto i =
        static_cast<size_t>(std::strtoul(std::string(name.substr(1)).c_str(), nullptr, 10));
    std::lock_guard lock(mutex);
    if (i < at.size() && at[i] == 0) at[i] = now;
  }
};

Times* hook_times = nullptr;

sg_status create(const sg_host* host, sg_call*, const sg_config*, void** self) {
  *self = const_cast<sg_host*>(host);
  return SG_OK;
}
void destroy(void*) {}
uint64_t interests(void*) {
  return SG_EV_FILES;
}
sg_status on_event(void*, sg_call*, const sg_event* event) {
  hook_times->note({reinterpret_cast<const char*>(event->relative.data), event->relative.len});
  return SG_OK;
}
const sg_hook kHook = {sizeof(sg_hook), 0, interests, on_event, nullptr, nullptr};
const sg_type kType = {sizeof(sg_type), 0,      SG_KIND_HOOK, "bench", "",
                       nullptr,         &kHook, create,       destroy, nullptr};

void read_bare(const std::string& directory, Times& times, std::atomic<bool>& ready,
               std::atomic<bool>& over) {
  Fd fd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  ::inotify_add_watch(fd.get(), directory.c_str(), IN_CLOSE_WRITE);
  ready = true;
  alignas(8) char buffer[65536];
  while (!over) {
    if (!wait_fd(fd.get(), POLLIN, 50)) continue;
    const ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
    for (ssize_t at = 0; at < n;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
      if (event->len) times.note(event->name);
      at += static_cast<ssize_t>(sizeof *event + event->len);
    }
  }
}

void report(const char* what, const std::vector<int64_t>& closed, const Times& times,
            double bare_p50) {
  std::vector<int64_t> late;
  size_t lost = 0;
  for (size_t i = 0; i < closed.size(); i++) {
    if (times.at[i] == 0)
      lost++;
    else
      late.push_back(std::max<int64_t>(times.at[i] - closed[i], 0));
  }
  std::sort(late.begin(), late.end());
  if (late.empty()) return;
  const double p50 = static_cast<double>(late[late.size() / 2]) / 1e3;
  const double p99 = static_cast<double>(late[late.size() * 99 / 100]) / 1e3;
  std::printf("%-22s p50 %7.1f us  p99 %7.1f us  lost %zu", what, p50, p99, lost);
  if (bare_p50 > 0) std::printf("  p50 / bare %.2f", p50 / bare_p50);
  std::printf("\n");
}

double p50_us(const std::vector<int64_t>& closed, const Times& times) {
  std::vector<int64_t> late;
  for (size_t i = 0; i < closed.size(); i++) late.push_back(times.at[i] - closed[i]);
  std::nth_element(late.begin(), late.begin() + static_cast<ptrdiff_t>(late.size() / 2),
                   late.end());
  return static_cast<double>(late[late.size() / 2]) / 1e3;
}

int64_t cpu_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

int main(int argc, char** argv) {
  const size_t count = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1000;
  if (argc > 2) ::setenv("TMPDIR", argv[2], 1);
  testing::TempDir tree, state;
  Times bare(count), sink(count), hook(count);
  hook_times = &hook;

  auto journal = std::move(*Journal::open(state / "j.db", {"box-1", "/workspace"}));
  plugin::Type type;
  type.abi = &kType;
  type.kind = SG_KIND_HOOK;
  type.name = "bench";
  auto handler =
      plugin::Instance::create(type, "bench", config::Value::make_map(), event_services(*journal));
  auto dispatcher = Dispatcher::start(*journal, {{"bench", *handler, {SG_EV_FILES}}}, nullptr);

  const std::string name = argc > 3 ? argv[3] : "inotify";
  const plugin::Registry registry(
      {{SANDGLASS_PLUGINS "/watcher-" + name + ".so", "", "path_bench"}});
  auto watcher = registry.find(SG_KIND_WATCHER, name);
  if (!watcher) return std::fprintf(stderr, "%s\n", watcher.error().text.c_str()), 1;
  auto instance = plugin::Instance::create(**watcher, name, config::Value::make_map(), {});
  watch::Target target;
  target.sandbox_id = "box-1";
  target.local_root = tree.path();
  auto session = watch::Session::start(
      *instance, target,
      [&](std::vector<watch::FileChange> batch) {
        std::vector<Event> events;
        for (const watch::FileChange& change : batch) {
          sink.note(change.path);
          Event e;
          e.kind = static_cast<EventKind>(change.kind);
          e.path = change.path;
          events.push_back(std::move(e));
        }
        journal->append(std::move(events));
      },
      10'000);
  if (!session) return std::fprintf(stderr, "%s\n", session.error().text.c_str()), 1;

  std::atomic<bool> ready{false}, over{false};
  std::thread reader([&] { read_bare(tree.path(), bare, ready, over); });
  while (!ready) std::this_thread::yield();

  const int64_t cpu = cpu_ns();
  std::vector<int64_t> closed(count);
  for (size_t i = 0; i < count; i++) {
    const std::string path = tree / ("f" + std::to_string(i));
    const int fd = ::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
    [[maybe_unused]] ssize_t n = ::write(fd, "x\n", 2);
    closed[i] = mono_ns();
    ::close(fd);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  const int64_t spent = cpu_ns() - cpu;
  (void)(*session)->stop(10'000);
  (void)journal->sync(10'000);
  dispatcher->drain(10'000);
  over = true;
  reader.join();
  const double base = p50_us(closed, bare);
  report("bare inotify reader", closed, bare, 0);
  report("watcher's sink", closed, sink, base);
  report("hook's entry", closed, hook, base);
  std::printf("%s: %.1f us of this process's time a file, the bare reader and the hook included\n",
              name.c_str(), static_cast<double>(spent) / 1e3 / static_cast<double>(count));
  dispatcher->stop(1'000);
}
