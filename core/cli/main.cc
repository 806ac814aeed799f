#include <CLI/CLI.hpp>

#include "api/operations.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/signals.h"

namespace {

using namespace sandglass;

struct Row {
  const char* name;
  const char* summary;
  cli::Command (*add)(CLI::App&, cli::Context&);
};

constexpr Row kCommands[] = {
    {"run", "Run a command and see every file it touches", cli::add_run},
    {"watch", "Watch a directory without running anything", cli::add_watch},
    {"events", "Print the journal of a sandbox", cli::add_events},
    {"diff", "Print what a sandbox changed as one patch", cli::add_diff},
    {"restore", "Put files back as they were at the start", cli::add_restore},
    {"status", "List sandboxes and their state", cli::add_status},
    {"rm", "Destroy sandboxes that are kept or were left", cli::add_rm},
    {"gc", "Destroy leftovers and remove old journals", cli::add_gc},
    {"check", "Check a configuration file", cli::add_check},
    {"plugin", "Look at plugins", cli::add_plugin},
    {"schema", "Print the JSON Schema of configuration files", cli::add_schema},
    {"version", "Print the version", cli::add_version},
};

// What stands after the first `--` belongs to the command that is run, whatever it looks like.
std::vector<std::string> split_rest(int argc, char** argv, cli::Context& context) {
  std::vector<std::string> own;
  for (int i = 1; i < argc; i++) {
    if (std::string_view(argv[i]) == "--") {
      context.rest.assign(argv + i + 1, argv + argc);
      break;
    }
    own.insert(own.begin(), argv[i]);  // CLI11 takes its arguments in reverse
  }
  return own;
}

int parse_failure(const CLI::App& app, const CLI::ParseError& error, bool run) {
  if (error.get_exit_code() == 0) {
    // --help of whichever command was asked.
    const CLI::App* asked = &app;
    std::string before;  // "sandglass plugin" of `sandglass plugin new --help`
    for (auto subs = asked->get_subcommands(); !subs.empty(); subs = asked->get_subcommands()) {
      before += (before.empty() ? "" : " ") + asked->get_name();
      asked = subs.front();
    }
    cli::print(asked->help(before));
    return 0;
  }
  cli::print_error({Fault::invalid, std::string(error.what()) + " (`sandglass --help` shows how)"});
  return run ? cli::kOurFault : cli::kUsage;
}

// Plugins of the configuration that the command was given may have categories too.
Status check_debug(const CLI::App& app, const cli::Context& context) {
  std::string config;
  for (const CLI::App* sub : app.get_subcommands())
    if (const CLI::Option* option = sub->get_option_no_throw("--config"))
      if (!option->empty()) config = option->as<std::string>();
  return api::check_categories(context.debug, config);
}

}  // namespace

int main(int argc, char** argv) {
  cli::block_signals();
  cli::claim_stdout();
  cli::Context context;
  CLI::App app("sandglass: what did it do to my files, and can I prove it?", "sandglass");
  app.require_subcommand(1);
  app.fallthrough();
  app.add_option("--state-dir", context.state_dir,
                 "Where journals are kept (default: $XDG_STATE_HOME/sandglass)")
      ->type_name("DIR");
  app.add_option(
         "--debug", context.debug,
         "Show a debug category: sandbox, watch, plugin, the name of a plugin's type, or all")
      ->type_name("CATEGORY")
      ->allow_extra_args(false);
  app.footer("Start with: sandglass run -- COMMAND. Each command explains itself with --help.");

  std::vector<std::pair<CLI::App*, cli::Command>> commands;
  for (const Row& row : kCommands) {
    CLI::App* sub = app.add_subcommand(row.name, row.summary);
    commands.emplace_back(sub, row.add(*sub, context));
  }
  std::vector<std::string> own = split_rest(argc, argv, context);
  try {
    app.parse(own);
  } catch (const CLI::ParseError& error) {
    return parse_failure(app, error, app.got_subcommand("run"));
  }
  if (Status known = check_debug(app, context); !known) {
    cli::print_error(known.error());
    return app.got_subcommand("run") ? cli::kOurFault : cli::kUsage;
  }
  log::show_categories(context.debug);
  for (const auto& [sub, command] : commands)
    if (sub->parsed()) return command();
  return cli::kUsage;
}
