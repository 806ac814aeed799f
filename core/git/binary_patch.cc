#include "git/binary_patch.h"

#include <algorithm>
#include <cstdint>

#include "git/zstream.h"

namespace sandglass::git {

namespace {

constexpr size_t kLine = 52;  // bytes before encoding
constexpr std::string_view kDigits =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";

void append_base85(std::string& out, std::string_view bytes) {
  for (size_t at = 0; at < bytes.size(); at += 4) {
    uint32_t word = 0;
    for (size_t i = 0; i < 4; i++)
      word = word << 8 | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0u);
    char digits[5];
    for (int i = 4; i >= 0; i--, word /= 85) digits[i] = kDigits[word % 85];
    out.append(digits, sizeof digits);
  }
}

void append_literal(std::string& out, std::string_view bytes) {
  out += "literal " + std::to_string(bytes.size()) + '\n';
  const std::string packed = deflate_all(bytes);
  for (size_t at = 0; at < packed.size(); at += kLine) {
    const std::string_view line = std::string_view(packed).substr(at, kLine);
    const size_t n = line.size();
    out += static_cast<char>(n <= 26 ? 'A' + n - 1 : 'a' + n - 27);
    append_base85(out, line);
    out += '\n';
  }
  out += '\n';
}

}  // namespace

std::string make_binary_body(std::string_view before, std::string_view after) {
  std::string out = "GIT binary patch\n";
  append_literal(out, after);
  append_literal(out, before);
  return out;
}

}  // namespace sandglass::git
