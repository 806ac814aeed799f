// What HEAD means: read from HEAD, loose refs and packed-refs by ourselves, in bounded reads.
#pragma once

#include <string>

#include "git/place.h"

namespace sandglass::git {

struct Head {
  enum class Kind { commit, unborn, unreadable };
  Kind kind = Kind::unreadable;
  std::string commit;  // 40 or 64 hex digits
  std::string branch;  // "main", empty when detached
};

Head read_head(const Place& place);

}  // namespace sandglass::git
