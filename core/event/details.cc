#include "event/details.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"

namespace sandglass {
namespace {

constexpr int kDepthCap = 64;

bool is_deep(std::string_view json) {
  int depth = 0;
  bool in_text = false;
  for (size_t i = 0; i < json.size(); i++) {
    const char c = json[i];
    if (in_text && c == '\\')
      i++;
    else if (c == '"')
      in_text = !in_text;
    else if (!in_text && (c == '{' || c == '['))
      depth++;
    else if (!in_text && (c == '}' || c == ']'))
      depth--;
    if (depth > kDepthCap) return true;
  }
  return false;
}

}  // namespace

// The parser takes a zero byte for the end of its input.
bool is_sound_json(std::string_view json) {
  return json.find('\0') == json.npos && !is_deep(json) && nlohmann::json::accept(json);
}

// A line end in valid JSON stands between two words.
std::string on_one_line(std::string_view json) {
  static constexpr std::string_view kBlanks = " \t\r\n";
  const size_t first = std::min(json.find_first_not_of(kBlanks), json.size());
  std::string out(json.substr(first, json.find_last_not_of(kBlanks) + 1 - first));
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return out;
}

std::string details_from_file(std::string json) {
  if (json.empty()) return json;
  if (is_sound_json(json)) return on_one_line(json);
  std::string text;
  append_json_string(text, utf8_or_escaped(json));
  return text;
}

}  // namespace sandglass
