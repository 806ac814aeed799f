// ${NAME}, ${NAME:-default} and $$ in every value, after parsing: what a variable holds never makes
// keys, lists or lines. Unquoted, the result is read like a plain scalar (12, true); in quotes it
// is text. Any other $ stands for itself. Keys are left alone.
#pragma once

#include <vector>

#include "config/problem.h"

namespace sandglass::config {

using Environment = const char* (*)(const char* name);

inline constexpr size_t kMaxExpandedBytes = 16 << 20;  // of all values together

// `environment` may be null: then nothing is set.
void expand(Value& root, Environment environment, std::vector<Problem>& problems);

}  // namespace sandglass::config
