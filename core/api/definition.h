// Which definition to run, in which directory, with which plugins.
#pragma once

#include <memory>
#include <string>

#include "api/operations.h"

namespace sandglass::api {

struct Chosen {
  config::Definition definition;
  std::string workspace;  // absolute, no links left in it
  std::unique_ptr<plugin::Registry> registry;
  config::Retention retention;
};
Result<Chosen> choose(const RunRequest& request);

// A configuration without problems, or an error that lists them. "" where no file exists.
Result<config::Configuration> load_configuration(const std::string& file);
std::vector<plugin::PluginFile> plugin_files(const config::Configuration& configuration);

// The directory as an absolute path without links; refused where it is / or a home directory and
// `all_of_it` is false (rule W12).
Result<std::string> watchable(const std::string& directory, bool all_of_it);

}  // namespace sandglass::api
