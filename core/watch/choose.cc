#include "watch/choose.h"

#include <sandglass/plugin.h>

namespace sandglass::watch {

Result<std::shared_ptr<plugin::Instance>> choose_watcher(const plugin::Registry& registry,
                                                         const std::string& name,
                                                         const config::Value& with) {
  const std::string type_name = name == "auto" ? "inotify" : name;
  auto type = registry.find(SG_KIND_WATCHER, type_name);
  if (!type) return tl::unexpected(type.error());
  return plugin::Instance::create(**type, type_name, with, {});
}

}  // namespace sandglass::watch
