#include <CLI/CLI.hpp>
#include <functional>
#include <memory>

#include "api/operations.h"
#include "api/scaffold.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/output.h"

namespace sandglass::cli {
namespace {

int plugin_list(const std::string& config, bool json) {
  const auto looked = api::plugins(config);
  if (!looked) return print_error(looked.error(), json), exit_code(looked.error());
  const std::vector<plugin::Looked>& all = *looked;
  JsonWriter w;
  w.open('{').key("files").open('[');
  for (const plugin::Looked& one : all) {
    if (!json) {
      print_line((one.loaded ? "loaded   " : "refused  ") + shown(one.file));
      print_line("         " + one.sentence);
      continue;
    }
    w.open('{').key("file").value(utf8_or_escaped(one.file)).key("loaded").value(one.loaded);
    w.key("sentence").value(one.sentence).key("plugin").value(one.plugin_id);
    w.key("version").value(one.plugin_version).key("types").open('[');
    for (const std::string& type : one.types) w.value(type);
    w.close(']').close('}');
  }
  w.close(']').close('}');
  if (json) print_line(w.text());
  if (!json && all.empty())
    say("  no plugin files were found: set SANDGLASS_PLUGIN_PATH, or install sandglass");
  return 0;
}

// For a shell, where it needs that.
std::string quoted(const std::string& word) {
  if (word.find_first_not_of(
          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-") == word.npos)
    return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return shown(out + "'");
}

int plugin_new(const api::NewPlugin& wanted) {
  const auto made = api::new_plugin(wanted);
  if (!made) return print_error(made.error()), exit_code(made.error());
  print_line("made " + shown(made->directory) + ": " + count_of(made->files.size(), "file"));
  for (const std::string& file : made->files) print_line("  " + file);
  print_line("next:");
  print_line("  cd " + quoted(made->directory));
  for (const std::string& command : made->commands) print_line("  " + command);
  return 0;
}

void print_json(const api::CheckedPlugin& checked) {
  JsonWriter w;
  w.open('{').key("file").value(utf8_or_escaped(checked.file));
  w.key("usable").value(checked.problems.empty()).key("plugin").value(checked.id);
  w.key("version").value(checked.version).key("abi").value(checked.abi).key("types").open('[');
  for (const auto& type : checked.types) {
    w.open('{').key("kind").value(type.kind).key("name").value(type.name);
    w.key("summary").value(type.summary).key("schema").value(type.has_schema).close('}');
  }
  w.close(']').key("problems").open('[');
  for (const std::string& problem : checked.problems) w.value(problem);
  w.close(']').key("notes").open('[');
  for (const std::string& note : checked.notes) w.value(note);
  w.close(']').close('}');
  print_line(w.text());
}

int plugin_check(const std::string& file, bool json) {
  const api::CheckedPlugin checked = api::check_plugin(file);
  const bool usable = checked.problems.empty();
  if (json) return print_json(checked), usable ? 0 : kUsage;
  for (const std::string& problem : checked.problems) say(shown(file) + ": " + problem);
  if (usable) {
    print_line(shown(file) + ": usable, " + checked.id + " " + checked.version + ", plugin ABI " +
               checked.abi);
    for (const auto& type : checked.types)
      print_line("  " + type.kind + " " + type.name + ": " + type.summary);
    for (const std::string& note : checked.notes) print_line("  note: " + note);
  }
  return usable ? 0 : kUsage;
}

void add_plugin_list(CLI::App& app, std::function<int()>& chosen) {
  struct Options {
    std::string config;
    bool json = false;
  };
  auto o = std::make_shared<Options>();
  CLI::App* list = app.add_subcommand("list", "Every plugin file looked at, and what became of it");
  list->add_option("--config", o->config, "Configuration file whose plugins to load too")
      ->type_name("FILE");
  list->add_flag("--json", o->json, "One object");
  list->callback([o, &chosen] { chosen = [o] { return plugin_list(o->config, o->json); }; });
}

void add_plugin_check(CLI::App& app, std::function<int()>& chosen) {
  struct Options {
    std::string file;
    bool json = false;
  };
  auto o = std::make_shared<Options>();
  CLI::App* sub = app.add_subcommand("check", "Load one plugin file and say what is wrong with it");
  sub->add_option("file", o->file, "The shared object")->required()->type_name("FILE.so");
  sub->add_flag("--json", o->json, "One object");
  sub->footer("Loading a file runs code of it. Exit code 0: usable, 2: not.");
  sub->callback([o, &chosen] { chosen = [o] { return plugin_check(o->file, o->json); }; });
}

void add_plugin_new(CLI::App& app, std::function<int()>& chosen) {
  auto wanted = std::make_shared<api::NewPlugin>();
  CLI::App* sub = app.add_subcommand("new", "Make a plugin to start from");
  sub->add_option("name", wanted->name, "What YAML will say after `use:`")
      ->required()
      ->type_name("NAME");
  sub->add_option("--kind", wanted->kind, "hook, watcher or provider")
      ->required()
      ->type_name("KIND");
  sub->add_option("--lang", wanted->language, "c, cpp or rust")->required()->type_name("LANGUAGE");
  sub->add_option("--dir", wanted->directory, "The directory to make (default: ./NAME)")
      ->type_name("DIR");
  sub->footer(
      "Copies the sample of that kind and language, which works as it is: source, build file, a\n"
      "configuration to try and a README. Then prints what to type next.");
  sub->callback([wanted, &chosen] { chosen = [wanted] { return plugin_new(*wanted); }; });
}

}  // namespace

Command add_plugin(CLI::App& app, Context&) {
  auto chosen = std::make_shared<std::function<int()>>();
  add_plugin_list(app, *chosen);
  add_plugin_new(app, *chosen);
  add_plugin_check(app, *chosen);
  app.require_subcommand(1);
  app.footer(
      "Plugins are looked for in the files that the configuration names, in the folders of\n"
      "SANDGLASS_PLUGIN_PATH, and in lib/sandglass beside the executable's folder.");
  return [chosen] { return (*chosen)(); };
}

}  // namespace sandglass::cli
