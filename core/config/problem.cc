#include "config/problem.h"

#include <algorithm>
#include <tuple>

#include "base/text.h"

namespace sandglass::config {

static constexpr size_t kShownBytes = 60;

Problem problem_at(const Place& place, std::string_view path, std::string_view what) {
  std::string text = place.text();
  for (std::string_view part : {path, what}) {
    if (part.empty()) continue;
    if (!text.empty()) text += ": ";
    text += part;
  }
  return {std::move(text), place};
}

static bool plain_word(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

// Never cuts a character in two.
static std::string shortened(std::string_view text) {
  if (text.size() <= kShownBytes) return shown(text);
  size_t end = kShownBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) end--;
  return shown(text.substr(0, end)) + "...";
}

std::string path_of(std::string_view parent, std::string_view key) {
  std::string out(parent);
  if (!out.empty()) out += '.';
  return out + (plain_word(key) ? std::string(key) : "\"" + shortened(key) + "\"");
}

std::string path_of(std::string_view parent, size_t index) {
  return std::string(parent) + "[" + std::to_string(index) + "]";
}

std::string_view kind_word(Kind kind) {
  switch (kind) {
    case Kind::null:
      return "nothing";
    case Kind::boolean:
      return "a boolean";
    case Kind::integer:
    case Kind::number:
      return "a number";
    case Kind::string:
      return "text";
    case Kind::list:
      return "a list";
    case Kind::map:
      return "a map";
  }
  return "";
}

std::string said(const Value& value) {
  if (!value.written.empty())
    return "\"" + shortened(value.written) + "\" with its variables filled in";
  switch (value.kind) {
    case Kind::boolean:
    case Kind::integer:
    case Kind::number:
      return shortened(value.string);
    case Kind::string:
      return "\"" + shortened(value.string) + "\"";
    default:
      return std::string(kind_word(value.kind));
  }
}

std::string one_of(const std::vector<std::string>& words) {
  std::string out;
  for (size_t i = 0; i < words.size(); i++) {
    if (i > 0) out += i + 1 == words.size() ? " or " : ", ";
    out += words[i];
  }
  return out;
}

void put_in_order(std::vector<Problem>& problems) {
  std::stable_sort(problems.begin(), problems.end(), [](const Problem& a, const Problem& b) {
    return std::tie(a.place.line, a.place.column) < std::tie(b.place.line, b.place.column);
  });
  auto same = [](const Problem& a, const Problem& b) { return a.text == b.text; };
  problems.erase(std::unique(problems.begin(), problems.end(), same), problems.end());
}

}  // namespace sandglass::config
