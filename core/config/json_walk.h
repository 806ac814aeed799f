// The schemas inside a JSON Schema. Included by json_schema.cc and embed_schema.cc only.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace sandglass::config {

// Calls visit(keyword, schema) for each schema right below `schema`, which is an object; what
// `const`, `enum`, `default` and `examples` hold is data and not visited.
template <class Json, class Visit>
void each_schema_below(Json& schema, Visit visit) {
  static constexpr std::array<std::string_view, 5> kTables{"properties", "patternProperties",
                                                           "definitions", "$defs", "dependencies"};
  static constexpr std::array<std::string_view, 4> kData{"const", "enum", "default", "examples"};
  for (auto& [key, item] : schema.items()) {
    if (std::find(kData.begin(), kData.end(), key) != kData.end()) continue;
    const bool table = std::find(kTables.begin(), kTables.end(), key) != kTables.end();
    if (item.is_array() || (table && item.is_object())) {
      for (auto& one : item)
        if (one.is_object()) visit(std::string_view(key), one);
    } else if (item.is_object()) {
      visit(std::string_view(key), item);
    }
  }
}

}  // namespace sandglass::config
