#include "base/log.h"

#include <spdlog/sinks/ansicolor_sink.h>
#include <spdlog/sinks/base_sink.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>

#include "base/clock.h"
#include "base/text.h"

namespace sandglass::log {
namespace {

struct Line {
  Level level;
  std::string text;
};

struct State {
  std::mutex mutex;
  std::vector<std::string> categories;
  std::shared_ptr<spdlog::sinks::sink> out;
  bool journal = false;
  Sink sink;
  bool held = false;
  uint64_t dropped = 0;
  std::deque<Line> kept;
};

constexpr size_t kKeptLines = 10'000;
constexpr std::array kCategories{
    Category{"errors", "faults; always on"},
    Category{"sandbox", "watcher start and stop, event dispatch, lifecycle steps"},
    Category{"watch", "what the watcher hints and how it is judged"},
    Category{"plugin", "loading of plugins, and what all of them log"},
    Category{"all", "everything"}};
std::atomic<bool> any_debug{false};

// systemd says which file its journal is; stderr may have been sent elsewhere since.
bool stderr_is_journal() {
  const char* told = std::getenv("JOURNAL_STREAM");
  unsigned long long device = 0, inode = 0;
  char more = 0;
  if (!told || std::sscanf(told, "%llu:%llu%c", &device, &inode, &more) != 2) return false;
  struct stat file {};
  return ::fstat(STDERR_FILENO, &file) == 0 && file.st_dev == device && file.st_ino == inode;
}

State& state() {
  static State* s = [] {
    auto* made = new State;  // never destroyed: threads may log while the process ends
    auto sink = std::make_shared<spdlog::sinks::ansicolor_stderr_sink_mt>();
    if (std::getenv("NO_COLOR")) sink->set_color_mode(spdlog::color_mode::never);
    sink->set_pattern("%^%v%$");
    made->journal = stderr_is_journal();
    made->out = std::move(sink);
    return made;
  }();
  return *s;
}

spdlog::level::level_enum level_of(Level level) {
  switch (level) {
    case Level::trace:
      return spdlog::level::trace;
    case Level::debug:
      return spdlog::level::debug;
    case Level::info:
      return spdlog::level::info;
    case Level::warn:
      return spdlog::level::warn;
    case Level::error:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

std::string tagged(Level level, std::string_view category, std::string_view text) {
  std::string line;
  if (level == Level::error)
    line = "error: ";
  else if (level == Level::warn)
    line = "warning: ";
  else if (level != Level::info)
    line = "[" + shown(category) + "] ";
  return line.append(text);
}

// sd-daemon(3): the journal takes a priority from the start of each line.
std::string with_priority(Level level, std::string_view text) {
  static constexpr std::array kPriorities{"<7>", "<7>", "<6>", "<4>", "<3>"};
  const char* priority = kPriorities[static_cast<size_t>(level)];
  std::string out = priority;
  for (char c : text) {
    out += c;
    if (c == '\n') out += priority;
  }
  return out;
}

std::string format(const State& s, Level level, std::string_view category, std::string_view text) {
  const std::string line = tagged(level, category, text);
  return s.journal ? with_priority(level, line) : "  " + clock_time(wall_ns()) + "  " + line;
}

void put(State& s, Level level, const std::string& line) {
  spdlog::details::log_msg message("", level_of(level), line);
  if (level == Level::info || level == Level::debug || level == Level::trace)
    message.level = spdlog::level::off;  // no colour
  s.out->log(message);
}

bool is_hosts(std::string_view category) {
  return std::any_of(kCategories.begin(), kCategories.end(),
                     [&](const Category& one) { return one.name == category; });
}

}  // namespace

std::span<const Category> categories() {
  return kCategories;
}

void show_categories(const std::vector<std::string>& categories) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  s.categories = categories;
  any_debug = !categories.empty();
}

bool enabled(Level level, std::string_view category) {
  if (level >= Level::info) return true;
  if (!any_debug) return false;
  State& s = state();
  std::lock_guard lock(s.mutex);
  return std::any_of(s.categories.begin(), s.categories.end(), [&](const std::string& c) {
    return c == "all" || c == category || (c == "plugin" && !is_hosts(category));
  });
}

void write(Level level, std::string_view category, std::string_view raw) {
  if (!enabled(level, category)) return;
  const std::string text = shown_text(raw);
  State& s = state();
  std::unique_lock lock(s.mutex);
  if (s.sink) {
    Sink sink = s.sink;
    lock.unlock();
    sink(level, category, text);
    return;
  }
  std::string line = format(s, level, category, text);
  if (!s.held) return put(s, level, line);
  s.kept.push_back({level, std::move(line)});
  if (s.kept.size() > kKeptLines) s.kept.pop_front(), s.dropped++;
}

void hold() {
  State& s = state();
  std::lock_guard lock(s.mutex);
  s.held = true;
}

void release() {
  State& s = state();
  std::lock_guard lock(s.mutex);
  s.held = false;
  if (s.dropped)
    put(s, Level::warn,
        format(s, Level::warn, "", std::to_string(s.dropped) + " earlier lines are not shown"));
  for (const Line& line : s.kept) put(s, line.level, line.text);
  s.kept.clear();
  s.dropped = 0;
}

void replace_sink(Sink sink) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  s.sink = std::move(sink);
}

}  // namespace sandglass::log
