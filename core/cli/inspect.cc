#include <CLI/CLI.hpp>
#include <memory>

#include "api/operations.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/output.h"

namespace sandglass::cli {
namespace {

int check(const std::string& file, bool json) {
  const api::Check result = api::check(file);
  if (json) {
    JsonWriter w;
    w.open('{').key("file").value(file).key("usable").value(result.problems.empty());
    w.key("sandboxes").open('[');
    for (const std::string& id : result.sandboxes) w.value(id);
    w.close(']').key("problems").open('[');
    for (const std::string& problem : result.problems) w.value(problem);
    w.close(']').close('}');
    print_line(w.text());
  } else {
    for (const std::string& problem : result.problems) say(problem);
    if (result.problems.empty())
      print_line(shown(file) + ": usable, " +
                 count_of(result.sandboxes.size(), "sandbox definition"));
  }
  return result.problems.empty() ? 0 : kUsage;
}

}  // namespace

Command add_check(CLI::App& app, Context&) {
  struct Options {
    std::string file;
    bool json = false;
  };
  auto o = std::make_shared<Options>();
  app.add_option("file", o->file, "Configuration file")->required()->type_name("FILE");
  app.add_flag("--json", o->json, "One object");
  app.footer(
      "Reads a configuration and says all its mistakes at once, each with its place; starts "
      "nothing.\n"
      "Exit code 0: usable, 2: not.");
  return [o] { return check(o->file, o->json); };
}

Command add_schema(CLI::App& app, Context&) {
  auto config = std::make_shared<std::string>();
  app.add_option("--config", *config, "Configuration file whose plugins to include")
      ->type_name("FILE");
  app.footer(
      "Prints the JSON Schema of configuration files, with the names and settings of the plugins\n"
      "that ship and of those that the file names. An editor completes and checks with it:\n"
      "sandglass schema > sandglass.schema.json, and as the file's first line\n"
      "# yaml-language-server: $schema=./sandglass.schema.json");
  return [config] {
    const auto schema = api::schema(*config);
    if (!schema) return print_error(schema.error()), exit_code(schema.error());
    return print_line(*schema) ? 0 : 1;
  };
}

Command add_version(CLI::App& app, Context&) {
  auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "One object");
  return [json] {
    const api::Version v = api::version();
    JsonWriter w;
    w.open('{').key("sandglass").value(v.sandglass).key("pluginAbi").value(v.abi).close('}');
    print_line(*json ? w.text() : "sandglass " + v.sandglass + " (plugin ABI " + v.abi + ")");
    return 0;
  };
}

}  // namespace sandglass::cli
