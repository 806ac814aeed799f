// An event as one line of JSON, for programs.
#pragma once

#include <sandglass/plugin.hpp>
#include <string>
#include <vector>

// {"id","seq","type","path","relative","timestamp","sandbox","runId","actor","details","before",...}\n
// Paths that are not UTF-8 have U+FFFD there and exact bytes in path_b64 and relative_b64.
// `include` names contents: "before", "after", "diff", each {"state","text"} or, for other bytes,
// {"state","b64"}.
std::string event_json(const sandglass::Event& event, const std::vector<std::string>& include);
