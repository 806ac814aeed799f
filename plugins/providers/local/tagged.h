// The processes of a running command, found by the tag in their environment. Only those of our own
// user.
#pragma once

#include <cstdint>
#include <string_view>

namespace local {

// Signals every one; how many there were.
int signal_tagged(std::string_view tag, int signo);
// Sets the size of the terminal they run on; false when there is none.
bool resize_tagged(std::string_view tag, uint32_t rows, uint32_t columns);

}  // namespace local
