#include <CLI/CLI.hpp>
#include <atomic>
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

constexpr size_t kPage = 1'000;
constexpr auto kFollowEvery = std::chrono::milliseconds(100);

struct Options {
  api::Which which;
  uint64_t after = 0;
  bool json = false, follow = false;
};

std::string human(const Event& event) {
  std::string type(name_of(event.kind));
  type.resize(std::max<size_t>(type.size(), 9), ' ');
  std::string line = std::to_string(event.seq);
  line.insert(0, line.size() < 6 ? 6 - line.size() : 0, ' ');
  line += "  " + clock_time(event.time_ns) + "  " + type + "  ";
  return line + (is_file(event.kind) ? shown(event.path) : shown(event.json));
}

// Rule S3: a gap is said, once.
std::string gap(uint64_t oldest, bool json) {
  if (json) return stream::reset(oldest, wall_ns());
  return "  events before " + std::to_string(oldest) + " are no longer kept";
}

bool print_page(const api::Events& page, uint64_t after, bool json) {
  std::string text;
  if (!page.events.empty() && page.events.front().seq != after + 1)
    text = gap(page.events.front().seq, json) + "\n";
  for (const Event& event : page.events) {
    text += json ? stream::custom(page.origin, event) : human(event);
    text += '\n';
  }
  return print(text);
}

class Pause {
 public:
  // False once stopped.
  bool wait() {
    std::unique_lock lock(mutex_);
    return !wake_.wait_for(lock, kFollowEvery, [&] { return stopped_; });
  }
  void stop() {
    std::lock_guard lock(mutex_);
    stopped_ = true;
    wake_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopped_ = false;
};

int events(Options& o, Context& context) {
  o.which.state_dir = context.state_dir;
  Pause pause;
  StopSignals signals([&](int) { pause.stop(); });
  for (;;) {
    auto page = api::events(o.which, o.after, kPage);
    if (!page) return print_error(page.error(), o.json), exit_code(page.error());
    o.which.sandbox = page->origin.sandbox_id;  // a newer instance does not take over
    if (!print_page(*page, o.after, o.json)) return 0;
    if (!page->events.empty()) o.after = page->events.back().seq;
    if (page->events.size() == kPage) continue;
    if (!o.follow || !page->owned || !pause.wait()) return 0;
  }
}

}  // namespace

Command add_events(CLI::App& app, Context& context) {
  auto o = std::make_shared<Options>();
  app.add_option("--sandbox", o->which.sandbox,
                 "Instance id (default: the newest of this directory)")
      ->type_name("ID");
  app.add_option("--after", o->after, "Only events after this seq")->type_name("SEQ");
  app.add_flag("--follow", o->follow, "Go on until the sandbox ends");
  app.add_flag("--json", o->json, "One CUSTOM event a line");
  app.footer("Prints the journal of a sandbox: every event, in the order all subscribers saw.");
  return [o, &context] { return events(*o, context); };
}

}  // namespace sandglass::cli
