// Mistakes in a file, as people read them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/value.h"

namespace sandglass::config {

// A mistake in a file: where it is, the path of keys, what it is, what to write instead.
struct Problem {
  std::string text;  // "sandglass.yaml:3:1: sandboxes.repo.provder: unknown key; did you mean
                     // \"provider\"?"
  Place place;
};

// `what` is shown as it is: pass names and values through shown() first. An empty path is left out.
Problem problem_at(const Place& place, std::string_view path, std::string_view what);

// The path of a map's entry or a list's item: "sandboxes.repo", "ignore[0]". A key that is no plain
// word is quoted, so that its dots are not taken for steps.
std::string path_of(std::string_view parent, std::string_view key);
std::string path_of(std::string_view parent, size_t index);

// A value as messages name it: its text in quotes, cut when long, or its kind. What the environment
// filled in is never shown, only the ${NAME} that asked for it.
std::string said(const Value& value);
// "text", "a number", "a list", ...
std::string_view kind_word(Kind kind);

// "a, b or c".
std::string one_of(const std::vector<std::string>& words);

// In the order of the file; one that says the same as another is dropped.
void put_in_order(std::vector<Problem>& problems);

}  // namespace sandglass::config
