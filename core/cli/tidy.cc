// `rm` and `gc`: what should go.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "api/operations.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/output.h"

namespace sandglass::cli {
namespace {

void print_json(const std::vector<sandbox::Tidied>& all, bool dry_run) {
  JsonWriter w;
  w.open('{').key("dryRun").value(dry_run).key("sandboxes").open('[');
  for (const sandbox::Tidied& one : all) {
    w.open('{').key("id").value(utf8_or_escaped(one.id)).key("what").value(one.what);
    w.key("why").value(one.why);
    if (!one.error.empty()) w.key("error").value(one.error);
    w.close('}');
  }
  w.close(']').close('}');
  print_line(w.text());
}

void print_human(const std::vector<sandbox::Tidied>& all, bool dry_run) {
  for (const sandbox::Tidied& one : all) {
    if (!one.error.empty())
      say("  " + shown(one.id) + " was not " + one.what + ": " + one.error);
    else
      print_line("  " + shown(one.id) + (dry_run ? " would be " : " ") + one.what + ": " + one.why);
  }
}

int show(const Result<std::vector<sandbox::Tidied>>& all, bool json, bool dry_run) {
  if (!all) return print_error(all.error(), json), exit_code(all.error());
  if (json)
    print_json(*all, dry_run);
  else
    print_human(*all, dry_run);
  return std::any_of(all->begin(), all->end(), [](const auto& one) { return !one.error.empty(); });
}

}  // namespace

Command add_rm(CLI::App& app, Context& context) {
  struct Options {
    api::RemoveRequest request;
    bool json = false;
  };
  auto o = std::make_shared<Options>();
  app.add_option("sandboxes", o->request.sandboxes, "Ids, or names of definitions")
      ->required()
      ->type_name("ID");
  app.add_flag("--purge", o->request.purge, "Remove the journal too");
  app.add_flag("--force", o->request.force,
               "With --purge: also where a durable hook has not had all events");
  app.add_option("--config", o->request.tidy.config,
                 "Configuration file that names the plugins they were made with")
      ->type_name("FILE");
  app.add_flag("--json", o->json, "One object");
  app.footer(
      "Destroys the boxes of sandboxes that are kept or were left. Their journals stay, and with "
      "them\n`events` and `diff`, unless --purge is given. One that is running is left alone.\n"
      "Exit code 1: some could not be destroyed, and it is said why.");
  return [o, &context] {
    o->request.tidy.state_dir = context.state_dir;
    return show(api::remove(o->request), o->json, false);
  };
}

Command add_gc(CLI::App& app, Context& context) {
  struct Options {
    api::TidyRequest request;
    bool json = false;
  };
  auto o = std::make_shared<Options>();
  app.add_flag("--dry-run", o->request.dry_run, "Only say what would be done");
  app.add_option("--config", o->request.config,
                 "Configuration file: its `retention`, and the plugins boxes were made with")
      ->type_name("FILE");
  app.add_flag("--json", o->json, "One object");
  app.footer(
      "Destroys boxes that ended processes left and those whose keepAlive is over, then removes\n"
      "journals older or larger than `retention` says (30d, 1 GB). What a durable hook has not "
      "had\n"
      "stays. Every run does the same when it ends, journals once a day.");
  return [o, &context] {
    o->request.state_dir = context.state_dir;
    return show(api::gc(o->request), o->json, o->request.dry_run);
  };
}

}  // namespace sandglass::cli
