#include <CLI/CLI.hpp>
#include <memory>

#include "api/operations.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/output.h"

namespace sandglass::cli {
namespace {

struct Options {
  api::DiffRequest request;
  bool stat = false, name_only = false, json = false;
};

std::string why_empty(const api::FileStat& stat) {
  return stat.state == git::PieceState::here ? "" : std::string(git::name_of(stat.state));
}

void print_stat(const api::Diff& diff) {
  std::string text;
  uint64_t added = 0, removed = 0;
  for (const api::FilePatch& file : diff.files) {
    std::string change = file.stat.change;
    change.resize(std::max<size_t>(change.size(), 6), ' ');
    text += "  " + change + "  " + shown(file.stat.path) + "  ";
    if (const std::string why = why_empty(file.stat); !why.empty())
      text += why;
    else if (file.stat.binary)
      text += "binary";
    else
      text += "+" + std::to_string(file.stat.added) + " -" + std::to_string(file.stat.removed);
    text += '\n';
    added += file.stat.added;
    removed += file.stat.removed;
  }
  text += "  " + count_of(diff.files.size(), "file") + ", +" + std::to_string(added) + " -" +
          std::to_string(removed) + "\n";
  print(text);
}

void print_json(const api::Diff& diff) {
  JsonWriter w;
  w.open('{')
      .key("sandbox")
      .value(diff.record.id)
      .key("baseline")
      .value(diff.record.baseline.commit);
  w.key("files").open('[');
  for (const api::FilePatch& file : diff.files) {
    w.open('{').key("path").value(utf8_or_escaped(file.stat.path));
    if (!is_utf8(file.stat.path)) w.key("path_b64").value(base64(file.stat.path));
    w.key("change").value(file.stat.change).key("state").value(git::name_of(file.stat.state));
    w.key("added").value(file.stat.added).key("removed").value(file.stat.removed);
    w.key("binary").value(file.stat.binary).key("diff").value(utf8_or_escaped(file.patch));
    if (!is_utf8(file.patch)) w.key("diff_b64").value(base64(file.patch));
    w.close('}');
  }
  w.close(']').close('}');
  print_line(w.text());
}

int diff(Options& o, Context& context) {
  o.request.which.state_dir = context.state_dir;
  o.request.paths = context.rest;
  auto diff = api::diff(o.request);
  if (!diff) return print_error(diff.error(), o.json), exit_code(diff.error());
  if (o.json) return print_json(*diff), 0;
  if (o.stat) return print_stat(*diff), 0;
  for (const api::FilePatch& file : diff->files) {
    const std::string why = why_empty(file.stat);
    if (o.name_only)
      print_line(shown(file.stat.path));
    else if (!file.patch.empty())
      print_contents(file.patch);
    else if (!why.empty())
      say("  " + shown(file.stat.path) + ": no patch (" + why + ")");
  }
  return 0;
}

}  // namespace

Command add_diff(CLI::App& app, Context& context) {
  auto o = std::make_shared<Options>();
  app.add_option("--sandbox", o->request.which.sandbox,
                 "Instance id (default: the newest of this directory)")
      ->type_name("ID");
  app.add_flag("--stat", o->stat, "Only the counts of lines");
  app.add_flag("--name-only", o->name_only, "Only the names");
  app.add_flag("--json", o->json, "One object");
  app.footer(
      "sandglass diff [OPTIONS] [-- PATH...]\n\nPrints one patch: what the sandbox's files are "
      "now, against the commit at its start.\n"
      "`git apply` takes it. Only files that the sandbox touched are in it.");
  return [o, &context] { return diff(*o, context); };
}

}  // namespace sandglass::cli
