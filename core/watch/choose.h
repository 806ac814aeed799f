// Which watcher a definition gets.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "config/value.h"
#include "plugin/instance.h"
#include "plugin/registry.h"

namespace sandglass::watch {

// An instance of the named watcher; "auto" is the best of those shipped (rule W2; there is one:
// inotify, which must still prove itself when its session starts).
Result<std::shared_ptr<plugin::Instance>> choose_watcher(const plugin::Registry& registry,
                                                         const std::string& name,
                                                         const config::Value& with);

}  // namespace sandglass::watch
