// Sentences that the check of our own keys and that of a plugin's settings have in common.
#pragma once

#include <string>

#include "config/problem.h"

namespace sandglass::config {

// What may stand at a place where something of another kind does.
struct Wanted {
  bool boolean = false, duration = false, text = false;
  std::string words;  // completes "write ..."
};

// "2000 has no unit; write 2000ms or 2000s", "\"yes\" is text, not a boolean; write true".
std::string wrong_kind(const Value& value, const Wanted& wanted);

// `did you mean "near"?`, or all of `known`.
std::string known_or_near(std::string_view word, const std::vector<std::string>& known);

// "is not a duration; ..." without the text that the environment filled in.
std::string wrong_unit(const Value& value, const Error& error, std::string_view wanted);

}  // namespace sandglass::config
