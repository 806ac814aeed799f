// The hunks of a text patch, as `git diff` prints them: three lines of context, Myers, indent
// heuristic, the line of the enclosing function after the second @@. Where more than 100,000 lines
// of large texts would have to be compared, one hunk replaces them all.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace sandglass::git {

// Empty when the texts are the same. Any thread.
Result<std::string> make_hunks(std::string_view before, std::string_view after);

}  // namespace sandglass::git
