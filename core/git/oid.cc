#include "git/oid.h"

#include <git2.h>

#include <algorithm>

#include "base/hash.h"

namespace sandglass::git {

static int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<Oid> parse_oid(std::string_view text) {
  Oid out;
  if (text.size() != out.size() * 2) return std::nullopt;
  for (size_t i = 0; i < out.size(); i++) {
    const int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    out[i] = static_cast<uint8_t>(high << 4 | low);
  }
  return out;
}

std::string to_hex(const Oid& id) {
  return hex({reinterpret_cast<const char*>(id.data()), id.size()});
}

std::optional<Oid> object_id(ObjectType type, std::string_view bytes) {
  [[maybe_unused]] static const int started = git_libgit2_init();
  git_oid raw;
  if (git_odb_hash(&raw, bytes.data(), bytes.size(), static_cast<git_object_t>(type)) < 0)
    return std::nullopt;
  Oid out;
  std::copy(raw.id, raw.id + out.size(), out.begin());
  return out;
}

}  // namespace sandglass::git
