// What an unquoted YAML scalar means. YAML 1.2 core rules, a little stricter: `yes`, `on` and `010`
// are text, so that where a boolean or a number is due the message can say what to write.
#pragma once

#include <string>

#include "config/value.h"

namespace sandglass::config {

// Sets kind, string and the field of that kind: boolean (true, True, TRUE, ...), integer (12, 0x1f,
// 0o17), number (1.5, 1e3; an integer that needs more than 64 bits), else string. Never null: the
// parser tells that apart.
void resolve_plain(const std::string& text, Value& out);

}  // namespace sandglass::config
