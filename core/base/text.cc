#include "base/text.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

namespace sandglass {

size_t utf8_length(std::string_view s) {
  if (s.empty()) return 0;
  auto at = [&](size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned char c = at(0);
  if (c < 0x80) return 1;
  size_t n = c >= 0xc2 && c <= 0xdf   ? 2
             : c >= 0xe0 && c <= 0xef ? 3
             : c >= 0xf0 && c <= 0xf4 ? 4
                                      : 0;
  if (n == 0 || s.size() < n) return 0;
  for (size_t i = 1; i < n; i++)
    if ((at(i) & 0xc0) != 0x80) return 0;
  if (c == 0xe0 && at(1) < 0xa0) return 0;
  if (c == 0xed && at(1) > 0x9f) return 0;
  if (c == 0xf0 && at(1) < 0x90) return 0;
  if (c == 0xf4 && at(1) > 0x8f) return 0;
  return n;
}

bool is_utf8(std::string_view s) {
  while (!s.empty()) {
    size_t n = utf8_length(s);
    if (n == 0) return false;
    s.remove_prefix(n);
  }
  return true;
}

static uint32_t decode(std::string_view s, size_t n) {
  auto at = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(s[i])); };
  if (n == 1) return at(0);
  if (n == 2) return (at(0) & 0x1f) << 6 | (at(1) & 0x3f);
  if (n == 3) return (at(0) & 0x0f) << 12 | (at(1) & 0x3f) << 6 | (at(2) & 0x3f);
  return (at(0) & 0x07) << 18 | (at(1) & 0x3f) << 12 | (at(2) & 0x3f) << 6 | (at(3) & 0x3f);
}

// Characters that a terminal acts on, or that reorder or hide what stands beside them.
static bool deceives(uint32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x200b && c <= 0x200f) ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
         c == 0x061c || (c >= 0xfff9 && c <= 0xfffb) || (c >= 0xe0000 && c <= 0xe007f);
}

static void escape(std::string& out, uint32_t c, std::string_view raw) {
  char text[16];
  switch (c) {
    case '\n':
      out += "\\n";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\r':
      out += "\\r";
      return;
    default:
      break;
  }
  if (raw.size() == 1)
    std::snprintf(text, sizeof text, "\\x%02x", c);
  else
    std::snprintf(text, sizeof text, c > 0xffff ? "\\U%08x" : "\\u%04x", c);
  out += text;
}

static void escape_byte(std::string& out, char byte) {
  char text[8];
  std::snprintf(text, sizeof text, "\\x%02x",
                static_cast<unsigned>(static_cast<unsigned char>(byte)));
  out += text;
}

static std::string without_deceit(std::string_view s, bool is_text) {
  std::string out;
  out.reserve(s.size());
  while (!s.empty()) {
    const size_t n = utf8_length(s);
    if (n == 0) {
      escape_byte(out, s[0]);
      s.remove_prefix(1);
      continue;
    }
    const uint32_t c = decode(s, n);
    if (is_text && (c == '\n' || c == '\t' || c == '\\'))
      out += static_cast<char>(c);
    else if (c == '\\')
      out += "\\\\";
    else if (deceives(c))
      escape(out, c, s.substr(0, n));
    else
      out.append(s.substr(0, n));
    s.remove_prefix(n);
  }
  return out;
}

std::string shown(std::string_view bytes) {
  return without_deceit(bytes, false);
}

std::string shown_text(std::string_view bytes) {
  return without_deceit(bytes, true);
}

std::string utf8_or_escaped(std::string_view s) {
  if (is_utf8(s)) return std::string(s);
  std::string out;
  while (!s.empty()) {
    const size_t n = utf8_length(s);
    if (n == 0)
      escape_byte(out, s[0]);
    else
      out.append(s.substr(0, n));
    s.remove_prefix(std::max<size_t>(n, 1));
  }
  return out;
}

std::string base64(std::string_view s) {
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((s.size() + 2) / 3 * 4);
  for (size_t i = 0; i < s.size(); i += 3) {
    auto byte = [&](size_t k) -> uint32_t {
      return k < s.size() ? static_cast<unsigned char>(s[k]) : 0;
    };
    const uint32_t v = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    out += kDigits[v >> 18 & 63];
    out += kDigits[v >> 12 & 63];
    out += i + 1 < s.size() ? kDigits[v >> 6 & 63] : '=';
    out += i + 2 < s.size() ? kDigits[v & 63] : '=';
  }
  return out;
}

static size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); j++) row[j] = j;
  for (size_t i = 1; i <= a.size(); i++) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); j++) {
      const size_t up = row[j];
      row[j] = std::min({up + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = up;
    }
  }
  return row[b.size()];
}

std::string nearest(std::string_view word, const std::string_view* known, size_t count) {
  size_t best = std::max<size_t>(2, word.size() / 3) + 1;
  std::string out;
  for (size_t i = 0; i < count; i++) {
    const size_t d = edit_distance(word, known[i]);
    if (d < best) best = d, out = known[i];
  }
  return out;
}

}  // namespace sandglass
