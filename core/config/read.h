// From checked values to typed ones; shared by load.cc and definition.cc only.
#pragma once

#include <string>

#include "config/definition.h"

namespace sandglass::config {

// `value` has passed check() against the sandbox rule.
Definition read_definition(const std::string& id, const Value& value);

// The same value: what no table of keys can say, how settings go together.
void check_definition(const std::string& id, const Value& value, std::vector<Problem>& problems);

// A path as a file wrote it, made absolute against that file's directory. "." parts and doubled
// slashes go; ".." stays, because what it means depends on links.
std::string absolute_path(const std::string& path, const Place& place);

}  // namespace sandglass::config
