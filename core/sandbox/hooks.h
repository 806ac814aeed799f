// Hook handlers of a definition: bindings in YAML become plugin instances with event masks.
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "config/definition.h"
#include "event/dispatch.h"
#include "plugin/registry.h"
#include "sandbox/attribution.h"

namespace sandglass::sandbox {

// Makes one instance per binding. The first that cannot be had is the error; nothing has started
// then. What a hook starts through the process service is known as the hook's.
Result<std::vector<Handler>> make_handlers(const plugin::Registry& registry, Journal& journal,
                                           const std::shared_ptr<Attribution>& attribution,
                                           const std::vector<config::HookBinding>& bindings);

}  // namespace sandglass::sandbox
