// The few settings we need out of a git configuration file: a plain reader that follows no include,
// expands nothing and runs nothing.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace sandglass::git {

// "section.key" or "section.Sub Section.key", section and key in lower case; the last value wins.
using GitConfig = std::map<std::string, std::string>;

// Any bytes. Where the text stops making sense the rest is left out.
GitConfig parse_git_config(std::string_view text);

}  // namespace sandglass::git
