// Bytes as people and JSON readers see them. Paths hold anything but NUL; terminals and JSON do
// not.
#pragma once

#include <string>
#include <string_view>

namespace sandglass {

// Length in bytes of the valid UTF-8 character at the start of `bytes`, or 0 when there is none.
// Overlong forms, surrogates and values past U+10FFFF are not valid.
size_t utf8_length(std::string_view bytes);
bool is_utf8(std::string_view bytes);

// For terminals and error texts: control, escape, bidirectional and zero-width characters and bytes
// that are no UTF-8 become \n, \t, \x1b, \u202e, \xff; a backslash becomes \\. Rule P3.
std::string shown(std::string_view bytes);

// The same for contents of several lines: line ends, tabs and backslashes stay.
std::string shown_text(std::string_view bytes);

// For JSON `path`: as it is when it is valid UTF-8, else each wrong byte as \xff (rule W9).
std::string utf8_or_escaped(std::string_view bytes);

std::string base64(std::string_view bytes);

// The nearest of `known` within an edit distance that suggests a typing mistake, or "".
std::string nearest(std::string_view word, const std::string_view* known, size_t count);

}  // namespace sandglass
