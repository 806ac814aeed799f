#include <CLI/CLI.hpp>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "api/operations.h"
#include "base/clock.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/signals.h"
#include "event/stream.h"

namespace sandglass::cli {
namespace {

constexpr size_t kQueue =
    100'000;  // changes that may wait for a slow reader before they are folded

struct Options {
  api::WatchRequest request;
  std::string interval = "700ms", ignore = ".git,node_modules";
  bool json = false;
};

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> out;
  for (size_t at = 0; at <= list.size();) {
    const size_t end = std::min(list.find(',', at), list.size());
    if (end > at) out.push_back(list.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

// Between the watcher's thread, which must never wait, and stdout, which may.
class Queue {
 public:
  void push(std::vector<watch::FileChange> batch) {
    std::lock_guard lock(mutex_);
    for (watch::FileChange& change : batch) waiting_.push_back(std::move(change));
    wake_.notify_one();
  }
  void stop() {
    std::lock_guard lock(mutex_);
    stopped_ = true;
    wake_.notify_one();
  }
  bool full() const {
    std::lock_guard lock(mutex_);
    return waiting_.size() >= kQueue;
  }
  // Empty once stopped and everything was taken.
  std::vector<watch::FileChange> take() {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [&] { return stopped_ || !waiting_.empty(); });
    return std::exchange(waiting_, {});
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<watch::FileChange> waiting_;
  bool stopped_ = false;
};

Event event_of(const watch::FileChange& change, uint64_t seq) {
  Event e;
  e.seq = seq;
  e.flags = change.flags;
  e.seen_ns = change.seen_ns;
  e.time_ns = change.seen_ns ? wall_ns() - (mono_ns() - change.seen_ns) : wall_ns();
  e.actor.pid = change.writers.last();
  const bool rescan = change.kind == watch::ChangeKind::rescan;
  e.kind = rescan ? EventKind::rescan : static_cast<EventKind>(change.kind);
  e.topic = rescan ? "sandbox.rescan" : "sandbox.file";
  e.json = rescan ? "{}" : "";
  e.path = change.path;
  return e;
}

class Printer {
 public:
  Printer(Origin origin, bool json) : origin_(std::move(origin)), json_(json) {}
  bool print_all(const std::vector<watch::FileChange>& batch) {
    std::string text;
    for (const watch::FileChange& change : batch) {
      const Event event = event_of(change, ++seq_);
      text += json_ ? stream::custom(origin_, event) : human(event);
      text += '\n';
    }
    return print(text);
  }
  bool ready(const std::string& state) {
    Event event;
    event.kind = EventKind::ready;
    event.time_ns = wall_ns();
    event.topic = "sandbox.ready";
    event.json = state;
    return print_line(stream::custom(origin_, event));
  }

 private:
  static std::string human(const Event& event) {
    std::string type(name_of(event.kind));
    type.resize(std::max<size_t>(type.size(), 6), ' ');
    return clock_time(event.time_ns) + "  " + type + "  " + shown(event.path);
  }
  Origin origin_;
  bool json_;
  uint64_t seq_ = 0;
};

int watch(Options& o) {
  auto interval = config::parse_duration(o.interval);
  if (!interval) return print_error(interval.error()), kUsage;
  o.request.interval_ns = *interval;
  o.request.ignore = split(o.ignore);
  Queue queue;
  StopSignals signals([&](int) { queue.stop(); });
  auto watching = api::watch(
      o.request, [&](std::vector<watch::FileChange> batch) { queue.push(std::move(batch)); });
  if (!watching) return print_error(watching.error(), o.json), exit_code(watching.error());
  watching->session->set_backlogged([&] { return queue.full(); });
  Printer printer({"watch", "/workspace"}, o.json);
  if (o.json)
    printer.ready(watching->session->state_json());
  else
    say("  watching " + shown(watching->directory) + " (" + watching->watcher +
        "); Ctrl-C ends it");
  bool reading = true;
  for (auto batch = queue.take(); reading && !batch.empty(); batch = queue.take())
    reading = printer.print_all(batch);
  Status stopped = watching->session->stop(20'000);  // what was written before is still told
  if (reading) printer.print_all(queue.take());
  if (!stopped) return print_error(stopped.error(), o.json), exit_code(stopped.error());
  return 0;
}

}  // namespace

Command add_watch(CLI::App& app, Context& context) {
  auto o = std::make_shared<Options>();
  app.add_option("directory", o->request.directory, "Directory to watch")
      ->required()
      ->type_name("DIR");
  app.add_option("--ignore", o->ignore, "Names of directories to leave out, comma-separated")
      ->capture_default_str();
  app.add_option("--watcher", o->request.watcher, "Watcher to use")
      ->capture_default_str()
      ->type_name("NAME");
  app.add_option("--interval", o->interval, "How often parts that cannot be watched are polled")
      ->capture_default_str();
  app.add_flag("--json", o->json, "One CUSTOM event a line");
  app.add_flag("--yes-all-of-it", o->request.all_of_it, "Allow a home directory or /");
  app.footer(
      "Prints every file that is created, changed or deleted until it is stopped. Runs nothing,\n"
      "records nothing. What was written before it is stopped is still printed.");
  (void)context;
  return [o] { return watch(*o); };
}

}  // namespace sandglass::cli
