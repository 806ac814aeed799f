// A fixed environment, and short ways to load.
#pragma once

#include <cstring>
#include <string>

#include "config/definition.h"

namespace sandglass::config {

inline const char* test_environment(const char* name) {
  static constexpr const char* kSet[][2] = {
      {"HOME", "/home/user"}, {"PROVIDER", "docker"}, {"EMPTY", ""},
      {"ON", "true"},         {"SECRET", "hunter2"},  {"STRUCTURE", "a: [1, {b: 2}]\nc: d"},
      {"NOT_UTF8", "\xff"},   {"INTERVAL", "250ms"}};
  for (const auto& [known, value] : kSet)
    if (std::strcmp(known, name) == 0) return value;
  return nullptr;
}

inline Loaded load_yaml(std::string_view yaml, const std::string& name = "sandglass.yaml") {
  return load_text(yaml, name, test_environment);
}

// All problems, one a line.
inline std::string texts(const std::vector<Problem>& problems) {
  std::string out;
  for (const Problem& problem : problems) out += problem.text + "\n";
  return out;
}

}  // namespace sandglass::config
