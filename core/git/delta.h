// Pack deltas: how to make one object out of another (gitformat-pack, "Deltified representation").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sandglass::git {

struct DeltaSizes {
  uint64_t base = 0, result = 0;
  size_t length = 0;  // bytes the two numbers took
};

// The two numbers a delta begins with.
std::optional<DeltaSizes> delta_sizes(std::string_view delta);

// Fault::corrupt when the delta does not fit the base or makes another size than it says or than
// `limit` allows.
Result<std::string> apply_delta(std::string_view base, std::string_view delta, uint64_t limit);

}  // namespace sandglass::git
