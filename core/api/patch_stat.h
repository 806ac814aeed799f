// Counting the lines of a patch.
#pragma once

#include <string>
#include <string_view>

#include "api/operations.h"

namespace sandglass::api {

struct Lines {
  uint64_t added = 0, removed = 0;
};
Lines count_lines(std::string_view patch);

// What a file's diff piece says about it.
FileStat stat_of(std::string path, const git::Piece& patch);

}  // namespace sandglass::api
