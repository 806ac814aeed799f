// Whether a name that is still the same kind of thing was changed: what the last look found, what
// this one finds, and what the kernel said in between.
#pragma once

#include "watch/tree.h"

namespace sandglass::watch {

enum class Verdict {
  same,
  change,
  meta,  // a change of the mode or of the time only
};

// To `flags` of a look that no hint led to: hints may have been missed, so stat alone must explain
// it.
constexpr uint32_t kUnhinted = 1u << 31;

// `flags` are SG_HINTF_* of the hints folded into this look; `seen_ns` is when the last of them was
// read from the kernel, 0 unknown. Rules W6 and W6a.
Verdict verdict_of(const Node& before, const Seen& now, uint32_t flags, int64_t seen_ns);

}  // namespace sandglass::watch
