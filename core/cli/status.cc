#include <CLI/CLI.hpp>
#include <memory>

#include "api/operations.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/output.h"

namespace sandglass::cli {
namespace {

struct Options {
  std::string sandbox;
  bool json = false;
};

std::string baseline_of(const api::InstanceStatus& one) {
  const git::Baseline& baseline = one.record.baseline;
  std::string out = baseline.snapshot && !baseline.tree.empty() ? "the files at the start"
                    : baseline.commit.empty()                   ? "empty"
                                                                : baseline.commit;
  if (one.pin.word != git::PinWord::none) out += ", " + std::string(git::name_of(one.pin.word));
  if (!one.pin.why.empty()) out += " (" + shown(one.pin.why) + ")";
  return out;
}

void print_json(const std::vector<api::InstanceStatus>& all) {
  JsonWriter w;
  w.open('{').key("sandboxes").open('[');
  for (const api::InstanceStatus& one : all) {
    w.open('{').key("id").value(one.record.id).key("name").value(one.record.name);
    w.key("state").value(one.state).key("running").value(one.owned);
    w.key("workspace")
        .value(utf8_or_escaped(one.record.workspace))
        .key("provider")
        .value(one.record.provider);
    w.key("watcher").value(one.record.watcher);
    if (!one.record.watching.empty()) w.key("watching").raw(one.record.watching);
    w.key("baseline").value(one.record.baseline.commit);
    w.key("baselineAt").value(one.record.baseline.snapshot ? "snapshot" : "head");
    w.key("pin").open('{').key("state").value(git::name_of(one.pin.word));
    w.key("why").value(one.pin.why).close('}');
    w.key("created").value(iso_time(one.record.created_ns));
    if (one.state == "kept") w.key("keptUntil").value(iso_time(one.kept_until_ns));
    w.key("owed").open('{');
    for (const auto& [hook, count] : one.owed) w.key(hook).value(count);
    w.close('}');
    w.key("events").value(one.events).key("fileEvents").value(one.file_events).close('}');
  }
  w.close(']').close('}');
  print_line(w.text());
}

void print_human(const std::vector<api::InstanceStatus>& all) {
  for (const api::InstanceStatus& one : all) {
    print_line(one.record.id + "  " + one.state + (one.owned ? " (running)" : "") +
               (one.state == "kept" ? " until " + iso_time(one.kept_until_ns) : ""));
    print_line("  workspace  " + shown(one.record.workspace));
    print_line("  provider   " + one.record.provider + ", watcher " +
               (one.record.watcher.empty() ? "off" : one.record.watcher));
    if (!one.watching.empty()) print_line("  watching   " + shown(one.watching));
    print_line("  baseline   " + baseline_of(one));
    print_line("  events     " + std::to_string(one.events) + ", of files " +
               std::to_string(one.file_events) + ", started " + iso_time(one.record.created_ns));
    for (const auto& [hook, count] : one.owed)
      print_line("  durable    " + shown(hook) + " has not had " + count_of(count, "event"));
  }
}

int status(Options& o, Context& context) {
  auto all = api::status(context.state_dir, o.sandbox);
  if (!all) return print_error(all.error(), o.json), exit_code(all.error());
  if (o.json) return print_json(*all), 0;
  if (all->empty()) say("  nothing was run yet: try `sandglass run -- COMMAND`");
  print_human(*all);
  return 0;
}

}  // namespace

Command add_status(CLI::App& app, Context& context) {
  auto o = std::make_shared<Options>();
  app.add_option("--sandbox", o->sandbox, "Instance id, or the id of its definition")
      ->type_name("ID");
  app.add_flag("--json", o->json, "One object");
  app.footer(
      "Lists the sandboxes of the state directory, oldest first: state, workspace, baseline, "
      "watcher.");
  return [o, &context] { return status(*o, context); };
}

}  // namespace sandglass::cli
