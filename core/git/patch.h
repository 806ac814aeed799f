// Unified patches of one path, exactly as `git diff --full-index --no-renames` prints them under a
// neutral configuration (rule B6).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "git/oid.h"

namespace sandglass::git {

// One side of a patch; the bytes are the caller's and must outlive the call.
struct Side {
  uint32_t mode = 0100644;  // 0100644, 0100755 or 0120000
  std::string_view bytes;   // the content, or the target of a link
  std::optional<Oid> id{};  // of the blob; worked out when not given
};

enum class BinaryPatch {
  brief,  // "Binary files a/x and b/x differ"
  full,   // "GIT binary patch", which applies
};

// Empty when both sides are the same or absent. A change between file and link is a delete and an
// add, as git prints it. `path` is any bytes. Any thread.
Result<std::string> make_patch(std::string_view path, const std::optional<Side>& before,
                               const std::optional<Side>& after,
                               BinaryPatch binary = BinaryPatch::brief);

// As git judges it: a zero byte in the first 8000.
bool is_binary(std::string_view bytes);

}  // namespace sandglass::git
