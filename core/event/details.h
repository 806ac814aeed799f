// The JSON that a lifecycle or custom event carries. It comes from plugins and from files, and goes
// out as part of one line of a stream.
#pragma once

#include <string>
#include <string_view>

namespace sandglass {

// Valid JSON, and not so deep that a reader's recursion would hurt.
bool is_sound_json(std::string_view json);

// The same value without line ends and without blanks around it. `json` is sound.
std::string on_one_line(std::string_view json);

// What a file holds as details, made fit for a line: what is not sound becomes a JSON string.
std::string details_from_file(std::string json);

}  // namespace sandglass
