#include "git/quote.h"

#include <algorithm>

namespace sandglass::git {

static constexpr std::string_view kLetters = "abtnvfr", kMeant = "\a\b\t\n\v\f\r";

static bool is_plain(char c) {
  const auto u = static_cast<unsigned char>(c);
  return u >= 0x20 && u < 0x7f && c != '"' && c != '\\';
}

std::string quote_name(std::string_view name) {
  if (std::all_of(name.begin(), name.end(), is_plain)) return std::string(name);
  std::string out = "\"";
  for (char c : name) {
    const auto u = static_cast<unsigned char>(c);
    const size_t letter = kMeant.find(c);
    if (is_plain(c)) {
      out += c;
    } else if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (letter != std::string_view::npos) {
      out += {'\\', kLetters[letter]};
    } else {
      out += {'\\', static_cast<char>('0' + (u >> 6)), static_cast<char>('0' + (u >> 3 & 7)),
              static_cast<char>('0' + (u & 7))};
    }
  }
  return out + '"';
}

std::optional<std::string> unquote_name(std::string_view text) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  std::string out;
  for (size_t i = 0; i < text.size(); i++) {
    if (text[i] == '"') return std::nullopt;
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    if (++i == text.size()) return std::nullopt;
    const size_t letter = kLetters.find(text[i]);
    if (text[i] == '"' || text[i] == '\\') {
      out += text[i];
    } else if (letter != std::string_view::npos) {
      out += kMeant[letter];
    } else {
      unsigned value = 0;
      if (text.size() - i < 3 || text[i] > '3') return std::nullopt;
      for (size_t end = i + 3; i < end; i++) {
        if (text[i] < '0' || text[i] > '7') return std::nullopt;
        value = value * 8 + static_cast<unsigned>(text[i] - '0');
      }
      i--;
      out += static_cast<char>(value);
    }
  }
  return out;
}

}  // namespace sandglass::git
