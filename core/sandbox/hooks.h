// Hook handlers of a definition: bindings in YAML become plugin instances with event masks.
#pragma once

#include <vector>

#include "base/result.h"
#include "config/definition.h"
#include "event/dispatch.h"
#include "plugin/registry.h"

namespace sandglass::sandbox {

// Makes one instance per binding. The first that cannot be had is the error; nothing has started
// then.
Result<std::vector<Handler>> make_handlers(const plugin::Registry& registry, Journal& journal,
                                           const std::vector<config::HookBinding>& bindings);

}  // namespace sandglass::sandbox
