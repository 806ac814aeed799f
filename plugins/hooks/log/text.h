// Bytes from a sandbox as a terminal may see them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hook_log {

// For one line: control, escape, bidirectional and zero-width characters and bytes that are no
// UTF-8 become \n, \x1b, \u202e, \xff; a backslash becomes two.
std::string safe_line(std::string_view bytes);

// The same for text of many lines: newlines, tabs and backslashes stay.
std::string safe_lines(std::string_view bytes);

// Characters, not bytes, of text that one of the above returned.
size_t width(std::string_view text);

}  // namespace hook_log
