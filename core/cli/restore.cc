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

struct Options {
  api::RestoreRequest request;
  bool json = false;
};

void print_json(const api::Restore& done, bool dry_run) {
  JsonWriter w;
  w.open('{').key("sandbox").value(done.sandbox).key("dryRun").value(dry_run);
  w.key("files").open('[');
  for (const api::Restored& one : done.files) {
    w.open('{').key("path").value(utf8_or_escaped(one.path));
    if (!is_utf8(one.path)) w.key("path_b64").value(base64(one.path));
    w.key("what").value(one.what);
    if (!one.why.empty()) w.key("why").value(one.why);
    w.close('}');
  }
  w.close(']').key("untouched").open('[');
  for (const std::string& path : done.untouched) w.value(utf8_or_escaped(path));
  w.close(']').close('}');
  print_line(w.text());
}

void print_human(const api::Restore& done, bool dry_run) {
  for (const api::Restored& one : done.files) {
    if (one.why.empty())
      print_line((dry_run ? "  would be " : "  ") + one.what + "  " + shown(one.path));
    else
      say("  " + one.what + "  " + shown(one.path) + ": " + one.why);
  }
  for (const std::string& path : done.untouched)
    say("  " + shown(path) + " was not touched by sandbox " + done.sandbox);
  if (done.files.empty() && done.untouched.empty())
    say("  nothing to do: every file is as at the start");
}

int restore(Options& o, Context& context) {
  o.request.which.state_dir = context.state_dir;
  auto& paths = o.request.paths;
  paths.insert(paths.end(), context.rest.begin(), context.rest.end());
  if (paths.empty() && o.request.run.empty()) {
    print_error({Fault::invalid, "say which files: PATH..., `.` for all, or --run RUN"}, o.json);
    return kUsage;
  }
  auto done = api::restore(o.request);
  if (!done) return print_error(done.error(), o.json), exit_code(done.error());
  if (o.json)
    print_json(*done, o.request.dry_run);
  else
    print_human(*done, o.request.dry_run);
  return !done->untouched.empty() ||
         std::any_of(done->files.begin(), done->files.end(),
                     [](const api::Restored& one) { return !one.why.empty(); });
}

}  // namespace

Command add_restore(CLI::App& app, Context& context) {
  auto o = std::make_shared<Options>();
  app.add_option("paths", o->request.paths, "Files, or directories with all below")
      ->type_name("PATH");
  app.add_option("--sandbox", o->request.which.sandbox,
                 "Instance id (default: the newest of this directory)")
      ->type_name("ID");
  app.add_option("--run", o->request.run, "Only what changed during this run")->type_name("RUN");
  app.add_flag("--dry-run", o->request.dry_run, "Only say what would be done");
  app.add_flag("--force", o->request.force,
               "Also what was changed after the sandbox's last look at it");
  app.add_flag("--json", o->json, "One object");
  app.footer(
      "Puts files that the sandbox touched back as they were at its start (what was changed "
      "then is again)\nand removes those it made.\nWhat somebody changed since is refused and "
      "said. The changes are events of the "
      "sandbox.\nExit code 1: something was refused, or was never touched.");
  return [o, &context] { return restore(*o, context); };
}

}  // namespace sandglass::cli
