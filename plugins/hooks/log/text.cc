#include "text.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>

namespace hook_log {
namespace {

struct Character {
  uint32_t code = 0;
  size_t length = 0;  // bytes; 0 where there is no valid UTF-8
};

Character first(std::string_view text) {
  const auto byte = [&](size_t i) {
    return static_cast<uint32_t>(static_cast<unsigned char>(text[i]));
  };
  const uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const size_t length = lead >= 0xf0 && lead <= 0xf4   ? 4
                        : lead >= 0xe0 && lead <= 0xef ? 3
                        : lead >= 0xc2 && lead <= 0xdf ? 2
                                                       : 0;
  if (length == 0 || text.size() < length) return {};
  uint32_t code = lead & (0x7fu >> length);
  for (size_t i = 1; i < length; i++) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < kLeast[length] || surrogate || code > 0x10ffff) return {};
  return {code, length};
}

// What a terminal acts on, or what reorders or hides its neighbours.
bool deceives(uint32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x061c || (c >= 0x200b && c <= 0x200f) ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
         (c >= 0xfff9 && c <= 0xfffb) || (c >= 0xe0000 && c <= 0xe007f);
}

std::string escaped(uint32_t code, bool is_byte) {
  if (code == '\n') return "\\n";
  if (code == '\t') return "\\t";
  if (code == '\r') return "\\r";
  char text[16];
  const char* form = is_byte || code < 0x80 ? "\\x%02x" : code > 0xffff ? "\\U%08x" : "\\u%04x";
  std::snprintf(text, sizeof text, form, static_cast<unsigned>(code));
  return text;
}

std::string safe(std::string_view bytes, std::string_view kept, bool double_backslash) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    const Character c = first(bytes);
    const size_t length = std::max<size_t>(c.length, 1);
    if (c.length == 0)
      out += escaped(static_cast<unsigned char>(bytes[0]), true);
    else if (c.code == '\\' && double_backslash)
      out += "\\\\";
    else if (deceives(c.code) && kept.find(bytes[0]) == kept.npos)
      out += escaped(c.code, false);
    else
      out.append(bytes.substr(0, length));
    bytes.remove_prefix(length);
  }
  return out;
}

}  // namespace

std::string safe_line(std::string_view bytes) {
  return safe(bytes, {}, true);
}
std::string safe_lines(std::string_view bytes) {
  return safe(bytes, "\n\t", false);
}

size_t width(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

}  // namespace hook_log
