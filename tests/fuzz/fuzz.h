// What the fuzz targets share.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace sandglass::fuzz {

inline void require(bool holds, const char* what, std::string_view seen = {}) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n%s\n", what, std::string(seen).c_str());
  std::abort();
}

// The input, taken apart from its front.
class Bytes {
 public:
  Bytes(const uint8_t* data, size_t size) : left_(reinterpret_cast<const char*>(data), size) {}

  uint8_t byte() {
    const std::string_view one = take(1);
    return one.empty() ? 0 : static_cast<uint8_t>(one[0]);
  }
  uint64_t number() {
    uint64_t out = 0;
    for (int i = 0; i < 8; i++) out = out << 8 | byte();
    return out;
  }
  std::string_view take(size_t size) {
    const std::string_view out = left_.substr(0, size);
    left_.remove_prefix(out.size());
    return out;
  }
  // Up to a zero byte or the end.
  std::string_view text() {
    const std::string_view out = left_.substr(0, left_.find('\0'));
    left_.remove_prefix(out.size());
    take(1);
    return out;
  }
  std::string_view rest() { return take(left_.size()); }
  bool empty() const { return left_.empty(); }

 private:
  std::string_view left_;
};

}  // namespace sandglass::fuzz
