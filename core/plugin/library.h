// The loader: maps a plugin into this process, for good. The only place that knows Boost.DLL.
#pragma once

#include <string>

#include "base/result.h"
#include "plugin/elf.h"

namespace sandglass::plugin {

// Maps `path` with all its symbols bound at once and none of them visible to other plugins, runs
// its constructors, and returns the address of `symbol`. It is never unmapped: thread-local
// destructors, exit handlers and late callbacks of a plugin stay valid to the end of the process.
// `elf` is what the file said; it tells a missing library from a missing symbol. The Error's text
// has no path.
Result<const void*> load_symbol(const std::string& path, const std::string& symbol, const Elf& elf);

}  // namespace sandglass::plugin
