// SHA-256 in hex, for contents, keys and pins.
#pragma once

#include <string>
#include <string_view>

namespace sandglass {

std::string sha256_hex(std::string_view bytes);
std::string hex(std::string_view bytes);
// `bytes` random bytes from the kernel, in hex.
std::string random_hex(size_t bytes);

}  // namespace sandglass
