#include "api/definition.h"

#include <pwd.h>
#include <unistd.h>

#include <boost/filesystem.hpp>
#include <cstdlib>

#include "base/log.h"
#include "base/text.h"

namespace fs = boost::filesystem;

namespace sandglass::api {
namespace {

const char* environment(const char* name) {
  return std::getenv(name);
}

bool is_home(const std::string& directory) {
  boost::system::error_code code;
  if (const char* home = std::getenv("HOME"); home && *home)
    if (fs::canonical(home, code).string() == directory) return true;
  const passwd* me = ::getpwuid(::geteuid());
  return me && me->pw_dir && fs::canonical(me->pw_dir, code).string() == directory;
}

Result<config::Definition> pick(const config::Configuration& all, const RunRequest& request) {
  if (!request.sandbox.empty()) {
    auto it = all.sandboxes.find(request.sandbox);
    if (it != all.sandboxes.end()) return it->second;
    std::string known;
    for (const auto& [id, unused] : all.sandboxes) known += (known.empty() ? "" : ", ") + id;
    return fail(Fault::config, "no sandbox " + shown(request.sandbox) + " is defined" +
                                   (known.empty() ? ": name a file that does with --config"
                                                  : "; there are: " + known));
  }
  if (request.config.empty() || all.sandboxes.empty()) return config::default_definition();
  if (all.sandboxes.size() == 1) return all.sandboxes.begin()->second;
  return fail(Fault::config,
              shown(request.config) + " defines several sandboxes: choose one with --sandbox");
}

config::HookBinding log_binding() {
  config::HookBinding binding;
  binding.point = config::HookPoint::file;
  binding.use.name = binding.name = "log";
  binding.use.with = config::Value::make_map();
  return binding;
}

// --diff: every log hook shows patches; one is added where there is none.
void show_patches(config::Definition& definition) {
  bool any = false;
  for (config::HookBinding& binding : definition.hooks) {
    if (binding.use.name != "log") continue;
    if (binding.use.with.kind != config::Kind::map) binding.use.with = config::Value::make_map();
    binding.use.with.set("diff", config::Value::of(true));
    any |= binding.point <= config::HookPoint::file_delete;
  }
  if (any) return;
  definition.hooks.push_back(log_binding());
  definition.hooks.back().use.with.set("diff", config::Value::of(true));
}

}  // namespace

Result<config::Configuration> load_configuration(const std::string& file) {
  std::string path = file;
  if (path.empty()) {
    const auto files = config::default_files();
    if (files.empty()) return config::Configuration{};
    path = files.front();
  }
  config::Loaded loaded = config::load(path, environment);
  if (loaded.problems.empty()) return std::move(loaded.configuration);
  std::string text;
  for (const config::Problem& problem : loaded.problems)
    text += (text.empty() ? "" : "\n") + problem.text;
  return fail(Fault::config, text);
}

std::vector<plugin::PluginFile> plugin_files(const config::Configuration& configuration) {
  std::vector<plugin::PluginFile> files;
  for (const config::PluginFile& file : configuration.plugins)
    files.push_back({file.path, file.sha256, file.place.text()});
  return files;
}

Result<std::string> watchable(const std::string& directory, bool all_of_it) {
  boost::system::error_code code;
  const fs::path real = fs::canonical(directory.empty() ? "." : directory, code);
  if (code)
    return fail(Fault::not_found,
                "cannot use the directory " + shown(directory) + ": " + code.message());
  if (!fs::is_directory(real, code))
    return fail(Fault::invalid, shown(directory) + " is not a directory");
  const std::string path = real.string();
  if (!all_of_it && (path == "/" || is_home(path)))
    return fail(Fault::denied,
                shown(path) + " is " + (path == "/" ? "the whole disk" : "a home directory") +
                    ": watching it costs much and shows private files. Go into a project's "
                    "directory, or add --yes-all-of-it");
  return path;
}

Result<Chosen> choose(const RunRequest& request) {
  auto configuration = load_configuration(request.config);
  if (!configuration) return tl::unexpected(configuration.error());
  auto definition = pick(*configuration, request);
  if (!definition) return tl::unexpected(definition.error());
  std::vector<std::string> debug = request.debug;
  debug.insert(debug.end(), configuration->debug.begin(), configuration->debug.end());
  log::show_categories(debug);
  Chosen chosen;
  chosen.retention = configuration->retention;
  chosen.definition = std::move(*definition);
  if (!request.provider.empty()) {
    chosen.definition.provider = {};
    chosen.definition.provider.name = request.provider;
    chosen.definition.provider.with = config::Value::make_map();
  }
  if (!request.watcher.empty()) {
    chosen.definition.file_events.watcher = request.watcher;
    chosen.definition.file_events.watcher_with = config::Value::make_map();
  }
  if (request.diff) show_patches(chosen.definition);
  const std::string& wanted =
      !request.workspace.empty() ? request.workspace : chosen.definition.workspace;
  auto workspace = watchable(wanted, request.all_of_it);
  if (!workspace) return tl::unexpected(workspace.error());
  chosen.workspace = std::move(*workspace);
  chosen.registry = std::make_unique<plugin::Registry>(plugin_files(*configuration));
  return chosen;
}

}  // namespace sandglass::api
