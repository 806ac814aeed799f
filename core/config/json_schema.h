// A plugin's settings (`with:`) against the JSON Schema the plugin ships.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/problem.h"

namespace sandglass::config {

// Draft 7, by valijson. `path` is where `with` stands, such as "sandboxes.repo.provider.with". A
// `with` that is null counts as an empty map. Of `format` only "duration" and "size" are checked,
// by parse_duration() and parse_size(). An empty schema allows everything; a broken one gives one
// problem that says so. $ref reaches inside the schema only.
std::vector<Problem> check_against_json_schema(const Value& with, std::string_view schema_json,
                                               std::string_view path);

// What keeps a schema from being used, or "".
std::string schema_fault(std::string_view schema_json);

}  // namespace sandglass::config
