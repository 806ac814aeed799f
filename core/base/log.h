// The log: lines for people on stderr, in categories (rules G1, G2). `errors` is always on, `info`
// lines of no category too; `sandbox` and others are debug categories, off unless switched on.
// Where stderr is the journal of systemd, each line begins with its priority, "<3>", instead of the
// time. Any thread. Of texts everything but line ends and tabs that a terminal would act on is
// escaped; pass names from a sandbox through shown() first, they hold line ends too.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sandglass::log {

enum class Level { trace, debug, info, warn, error };

struct Category {
  std::string_view name, shows;
};
// The host's own, "all" included. Any other is a plugin's, named as its type.
std::span<const Category> categories();

// Categories to show below `info`; "all" is every one, "plugin" those of all plugins as well.
// Replaces what was set.
void show_categories(const std::vector<std::string>& categories);
bool enabled(Level level, std::string_view category);

void write(Level level, std::string_view category, std::string_view text);
inline void error(std::string_view text) {
  write(Level::error, "errors", text);
}
inline void warn(std::string_view text) {
  write(Level::warn, "", text);
}
inline void info(std::string_view text) {
  write(Level::info, "", text);
}
inline void debug(std::string_view category, std::string_view text) {
  write(Level::debug, category, text);
}

// While held, lines are kept (the last 10,000) and come out on release: a command owns the
// terminal.
void hold();
void release();

// Tests read what was logged: called for every enabled line instead of stderr. Null restores it.
using Sink = std::function<void(Level, std::string_view category, std::string_view text)>;
void replace_sink(Sink sink);

}  // namespace sandglass::log
