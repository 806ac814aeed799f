// Names as git writes them in patches and lists (core.quotePath=true).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sandglass::git {

// "a/b c" as it is; with control bytes, quotes, backslashes or bytes past 0x7e as
// "\"a/\\303\\244\"".
std::string quote_name(std::string_view name);

// The reverse, for one whole quoted text. Nothing when it is not one.
std::optional<std::string> unquote_name(std::string_view text);

}  // namespace sandglass::git
