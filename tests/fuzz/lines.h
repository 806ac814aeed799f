// What goes out for an event must be one line of valid JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "event/stream.h"
#include "fuzz.h"

namespace sandglass::fuzz {

inline void require_line(const std::string& line) {
  require(line.find_first_of("\r\n") == line.npos, "an event is one line", line);
  const auto json = nlohmann::json::parse(line, nullptr, false);
  require(json.is_object() && json.value("type", "") == "CUSTOM", "an event is valid JSON", line);
}

inline void require_lines(const Event& event, std::string_view patch) {
  const Origin origin{"box-1", "/workspace"};
  require_line(stream::custom(origin, event));
  require_line(stream::diff(origin, event, patch));
}

}  // namespace sandglass::fuzz
