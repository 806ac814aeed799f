// Files kept by Git LFS: the blob is a pointer, the content lies in a store beside the objects.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/below.h"

namespace sandglass::git {

struct LfsPointer {
  std::string sha256;  // of the content, 64 hex digits
  uint64_t size = 0;
  bool operator==(const LfsPointer&) const = default;
};

// Strict: version, oid and size, each on a line of its own, in this order and nothing else. A
// pointer with extensions is none: its content is not what the working tree holds.
std::optional<LfsPointer> parse_lfs_pointer(std::string_view blob);

// The first `cap` bytes of a file below a root, where the whole of it is what the pointer says.
// Nothing otherwise, whatever lies there. Reads the file once, in small parts.
std::optional<std::string> read_proven(const Root& root, std::string_view path,
                                       const LfsPointer& pointer, uint64_t cap);

// Below the store's directory.
std::string path_in_store(const LfsPointer& pointer);

}  // namespace sandglass::git
