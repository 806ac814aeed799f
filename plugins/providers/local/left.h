// What commands left running on purpose, in this process or in one before it: no call of the
// process service knows it any more. Found by the tag in its environment; only of our own user.
#pragma once

#include <string_view>

namespace local {

// Signals every process with this tag; how many there were.
int signal_left(std::string_view tag, int signo);

}  // namespace local
