// What a syntax error means, in words that say what to write.
#pragma once

#include <string>
#include <string_view>

#include "config/source.h"

namespace sandglass::config {

struct SyntaxError {
  size_t position = 0;       // byte offset where the parser stopped
  std::string_view message;  // the parser's own
  size_t quote_begin = 0;    // the last quoted text that spans lines, or equal
  size_t quote_end = 0;
  size_t bracket = std::string::npos;  // the innermost [ or { that is still open
};

Problem explain(const SyntaxError& error, const Source& source);

// A tab before the first other character of the line that holds `position`: its offset, or npos.
size_t tab_in_indentation(const Source& source, size_t position);
Problem tab_problem(const Source& source, size_t tab);

}  // namespace sandglass::config
