// The body of a binary patch that `git apply` takes ("GIT binary patch").
#pragma once

#include <string>
#include <string_view>

namespace sandglass::git {

// Both directions, each the whole content (git may write a shorter delta; both apply).
std::string make_binary_body(std::string_view before, std::string_view after);

}  // namespace sandglass::git
