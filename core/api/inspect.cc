#include <sandglass/plugin.h>

#include <cstdlib>

#include "api/definition.h"
#include "config/json_schema.h"
#include "config/schema.h"

namespace sandglass::api {
namespace {

void check_use(const plugin::Registry& registry, const char* kind, const config::Use& use,
               const std::string& path, Check& out) {
  auto type = registry.find(kind, use.name);
  if (!type) {
    const std::string place = use.place.text();
    out.problems.push_back((place.empty() ? "" : place + ": ") + type.error().text);
    return;
  }
  if ((*type)->schema.empty()) return;
  for (const config::Problem& problem :
       config::check_against_json_schema(use.with, (*type)->schema, path + ".with"))
    out.problems.push_back(problem.text);
}

void check_definition(const plugin::Registry& registry, const config::Definition& d, Check& out) {
  const std::string path = "sandboxes." + d.id;
  check_use(registry, SG_KIND_PROVIDER, d.provider, path + ".provider", out);
  if (d.file_events.enabled && d.file_events.watcher != "auto") {
    config::Use watcher;
    watcher.name = d.file_events.watcher;
    watcher.with = d.file_events.watcher_with;
    watcher.place = d.place;
    check_use(registry, SG_KIND_WATCHER, watcher, path + ".fileEvents.watcher", out);
  }
  for (const config::HookBinding& binding : d.hooks)
    check_use(registry, SG_KIND_HOOK, binding.use, path + ".hooks", out);
}

}  // namespace

Check check(const std::string& file) {
  Check out;
  out.file = file;
  config::Loaded loaded =
      config::load(file, [](const char* name) -> const char* { return std::getenv(name); });
  for (const config::Problem& problem : loaded.problems) out.problems.push_back(problem.text);
  if (!out.problems.empty()) return out;
  const plugin::Registry registry(plugin_files(loaded.configuration));
  for (const plugin::Looked& looked : registry.looked())
    for (const config::PluginFile& named : loaded.configuration.plugins)
      if (looked.file == named.path && !looked.loaded)
        out.problems.push_back(named.place.text() + ": " + looked.sentence);
  for (const auto& [id, definition] : loaded.configuration.sandboxes) {
    out.sandboxes.push_back(id);
    check_definition(registry, definition, out);
  }
  return out;
}

Result<std::vector<plugin::Looked>> plugins(const std::string& config) {
  auto configuration = load_configuration(config);
  if (!configuration) return tl::unexpected(configuration.error());
  return plugin::Registry(plugin_files(*configuration)).looked();
}

std::string schema() {
  return config::json_schema();
}

Version version() {
  return {SANDGLASS_VERSION, std::to_string(SG_ABI_MAJOR) + "." + std::to_string(SG_ABI_MINOR)};
}

}  // namespace sandglass::api
