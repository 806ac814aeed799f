// What every subcommand gets, and the table main() is made of.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace sandglass::cli {

struct Context {
  std::string state_dir;
  std::vector<std::string> debug;
  std::vector<std::string> rest;  // what stood after `--`
};

// Adds the command's options to `app` and returns what runs it: an exit code.
using Command = std::function<int()>;
Command add_run(CLI::App& app, Context& context);
Command add_watch(CLI::App& app, Context& context);
Command add_events(CLI::App& app, Context& context);
Command add_diff(CLI::App& app, Context& context);
Command add_restore(CLI::App& app, Context& context);
Command add_status(CLI::App& app, Context& context);
Command add_rm(CLI::App& app, Context& context);
Command add_gc(CLI::App& app, Context& context);
Command add_check(CLI::App& app, Context& context);
Command add_plugin(CLI::App& app, Context& context);
Command add_schema(CLI::App& app, Context& context);
Command add_version(CLI::App& app, Context& context);

}  // namespace sandglass::cli
