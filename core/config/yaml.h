// YAML text to a tree of values. Stricter than YAML: a duplicate key, a second document, an unknown
// tag, a tab as indentation, a key without its colon are problems. Aliases are copied in place,
// `<<` is merged (explicit keys win, then the earlier map of a list).
#pragma once

#include <vector>

#include "config/problem.h"
#include "config/source.h"

namespace sandglass::config {

inline constexpr int kMaxDepth = 64;
inline constexpr size_t kMaxNodes = 100'000;  // keys and values, after aliases are copied

struct Parsed {
  Value root;  // kind null when the file says nothing
  std::vector<Problem> problems;
  bool complete =
      true;  // false: a syntax error or a limit ended the reading; root is not to be used
};

Parsed parse_yaml(const Source& source);

}  // namespace sandglass::config
