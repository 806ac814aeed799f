// SHA-1 object ids, raw and in hex, and the kinds of objects.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sandglass::git {

using Oid = std::array<uint8_t, 20>;

enum class ObjectType : int { commit = 1, tree = 2, blob = 3, tag = 4 };  // git's numbers

std::optional<Oid> parse_oid(std::string_view hex);  // exactly 40 hex digits
std::string to_hex(const Oid& id);

// The id git gives an object with this content. Nothing when the bytes are a known SHA-1 collision
// attack. Any thread.
std::optional<Oid> object_id(ObjectType type, std::string_view bytes);

}  // namespace sandglass::git
