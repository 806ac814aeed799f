#include <sandglass/plugin.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "api/definition.h"
#include "base/log.h"
#include "base/text.h"
#include "config/json_schema.h"
#include "config/schema.h"

namespace sandglass::api {
namespace {

config::Slot slot_of(std::string_view kind) {
  if (kind == SG_KIND_PROVIDER) return config::Slot::provider;
  if (kind == SG_KIND_WATCHER) return config::Slot::watcher;
  if (kind == SG_KIND_HOOK) return config::Slot::hook;
  return config::Slot::none;
}

void check_use(const plugin::Registry& registry, const char* kind, const config::Use& use,
               const std::string& path, Check& out) {
  auto type = registry.find(kind, use.name);
  if (!type) {
    out.problems.push_back(config::problem_at(use.place, path, type.error().text).text);
    return;
  }
  if ((*type)->schema.empty()) return;
  for (const config::Problem& problem :
       config::check_against_json_schema(use.with, (*type)->schema, path + ".with"))
    out.problems.push_back(problem.text);
}

std::string_view name_of(config::HookPoint point) {
  static constexpr std::string_view kNames[] = {
      "onFile", "onFileCreate", "onFileChange", "onFileDelete", "onReady", "onError", "onDestroy"};
  return kNames[static_cast<size_t>(point)];
}

void check_hooks(const plugin::Registry& registry, const config::Definition& d, Check& out) {
  std::map<config::HookPoint, size_t> bound, seen;
  for (const config::HookBinding& binding : d.hooks) bound[binding.point]++;
  for (const config::HookBinding& binding : d.hooks) {
    std::string path = "sandboxes." + d.id + ".hooks." + std::string(name_of(binding.point));
    if (bound[binding.point] > 1) path += "[" + std::to_string(seen[binding.point]++) + "]";
    check_use(registry, SG_KIND_HOOK, binding.use, path, out);
  }
}

void check_definition(const plugin::Registry& registry, const config::Definition& d, Check& out) {
  const std::string path = "sandboxes." + d.id;
  check_use(registry, SG_KIND_PROVIDER, d.provider, path + ".provider", out);
  if (d.file_events.enabled && d.file_events.watcher != "auto") {
    config::Use watcher;
    watcher.name = d.file_events.watcher;
    watcher.with = d.file_events.watcher_with;
    watcher.place = watcher.with.place;
    check_use(registry, SG_KIND_WATCHER, watcher, path + ".fileEvents.watcher", out);
  }
  check_hooks(registry, d, out);
}

// The plugins that ship, and those of `config` where one is given: never of a default file.
Result<std::unique_ptr<plugin::Registry>> registry_of(const std::string& config) {
  config::Configuration configuration;
  if (!config.empty()) {
    auto loaded = load_configuration(config);
    if (!loaded) return tl::unexpected(loaded.error());
    configuration = std::move(*loaded);
  }
  return std::make_unique<plugin::Registry>(plugin_files(configuration));
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

Status check_categories(const std::vector<std::string>& categories, const std::string& config) {
  std::vector<std::string> known;
  for (const log::Category& one : log::categories()) known.emplace_back(one.name);
  auto is_known = [&](const std::string& name) {
    return std::find(known.begin(), known.end(), name) != known.end();
  };
  if (std::all_of(categories.begin(), categories.end(), is_known)) return {};
  const auto registry = registry_of(config);
  if (!registry) return tl::unexpected(registry.error());
  for (const plugin::Type* type : (*registry)->types())
    if (!is_known(type->name)) known.push_back(type->name);
  const auto unknown = std::find_if_not(categories.begin(), categories.end(), is_known);
  if (unknown == categories.end()) return {};
  return fail(Fault::invalid, "there is no debug category " + shown(*unknown) + "; there are " +
                                  config::one_of(known));
}

Result<std::string> schema(const std::string& config) {
  const auto registry = registry_of(config);
  if (!registry) return tl::unexpected(registry.error());
  std::vector<config::UsableType> types{
      {config::Slot::watcher, "auto", "The best watcher that proves itself here", ""}};
  for (const plugin::Type* type : (*registry)->types())
    if (const config::Slot slot = slot_of(type->kind); slot != config::Slot::none)
      types.push_back({slot, type->name, type->summary, type->schema});
  return config::json_schema(types);
}

Version version() {
  return {SANDGLASS_VERSION, std::to_string(SG_ABI_MAJOR) + "." + std::to_string(SG_ABI_MINOR)};
}

}  // namespace sandglass::api
