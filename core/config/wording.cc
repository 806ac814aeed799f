#include "config/wording.h"

#include <algorithm>

#include "base/text.h"

namespace sandglass::config {

static constexpr size_t kListed = 20;

// What YAML 1.1 took for a boolean: "true", "false", or "" when it is none.
static std::string old_boolean(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  for (const char* on : {"yes", "on", "y", "true"})
    if (lower == on) return "true";
  for (const char* off : {"no", "off", "n", "false"})
    if (lower == off) return "false";
  return "";
}

std::string wrong_kind(const Value& value, const Wanted& wanted) {
  if (value.kind == Kind::null) return "has no value; write " + wanted.words;
  const std::string kind(kind_word(value.kind));
  if (value.kind == Kind::list || value.kind == Kind::map)
    return "is " + kind + "; write " + wanted.words;
  if (!value.written.empty()) return said(value) + " is " + kind + "; write " + wanted.words;
  if (value.kind == Kind::string && wanted.boolean)
    if (std::string word = old_boolean(value.string); !word.empty())
      return said(value) + (value.quoted ? " in quotes" : "") + " is text, not a boolean; write " +
             word;
  if (value.kind != Kind::string && value.kind != Kind::boolean && wanted.duration)
    return said(value) + " has no unit; write " + value.string + "ms or " + value.string + "s";
  if (value.kind != Kind::string && wanted.text)
    return said(value) + " is " + kind + "; write \"" + shown(value.string) + "\" in quotes";
  return said(value) + " is " + kind + "; write " + wanted.words;
}

std::string known_or_near(std::string_view word, const std::vector<std::string>& known) {
  const std::vector<std::string_view> names(known.begin(), known.end());
  const std::string near = nearest(word, names.data(), names.size());
  if (!near.empty()) return "did you mean \"" + shown(near) + "\"?";
  std::vector<std::string> listed;
  for (const std::string& name : known)
    if (listed.size() < kListed) listed.push_back(shown(name));
  if (listed.size() < known.size()) listed.push_back("others");
  return listed.empty() ? "remove it" : "write " + one_of(listed);
}

std::string wrong_unit(const Value& value, const Error& error, std::string_view wanted) {
  if (value.written.empty()) return error.text;
  return said(value) + " is not right; write " + std::string(wanted);
}

}  // namespace sandglass::config
