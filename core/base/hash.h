// SHA-256 in hex, for contents, keys and pins.
#pragma once

#include <string>
#include <string_view>

namespace sandglass {

std::string sha256_hex(std::string_view bytes);

// The same of bytes that come in parts. One thread; ended by hex().
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  void add(std::string_view bytes);
  std::string hex();

 private:
  void* state_;
};

std::string hex(std::string_view bytes);
// `bytes` random bytes from the kernel, in hex.
std::string random_hex(size_t bytes);

}  // namespace sandglass
