// How it is learnt that a workspace directory went away by itself.
#pragma once

#include <sandglass/plugin.hpp>

#include "box.h"

namespace local {

// Returns once the directory that is there now is removed or no longer at its path. Throws when the
// call is cancelled or out of time.
void wait_until_gone(const sandglass::Host& host, const sandglass::Call& call, const Box& box);

}  // namespace local
