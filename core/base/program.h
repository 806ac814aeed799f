// Where this executable is installed: all that belongs to it lies beside it, so that a prefix can
// be moved.
#pragma once

#include <string>
#include <string_view>

namespace sandglass {

// "<prefix>/<below>" for the executable "<prefix>/bin/sandglass"; "" where that cannot be told.
std::string installed(std::string_view below);

}  // namespace sandglass
