// Tries a plugin's constructors in a child of the host, before the host itself depends on them.
#pragma once

#include <functional>
#include <optional>

#include "base/result.h"
#include "plugin/contain.h"

namespace sandglass::plugin {

// Runs `map`, which loads the plugin, in a child. An Error when that ends the process, is ended by
// a signal, or takes longer than 10 s; its text has no path. Where no child can be made, all is
// well.
Status rehearse(const std::function<std::optional<Ended>()>& map);

}  // namespace sandglass::plugin
