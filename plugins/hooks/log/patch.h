// Counting a unified diff.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hook_log {

struct Stat {
  uint64_t added = 0, removed = 0;
};

// Lines added and removed in the hunks of a patch. A line is judged by where it stands in a hunk,
// so an added "++ x" is not taken for a header.
Stat count_lines(std::string_view patch);

// "+1 -1", "+1", "-3", or "" when nothing was counted.
std::string to_text(Stat stat);

}  // namespace hook_log
