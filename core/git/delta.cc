#include "git/delta.h"

namespace sandglass::git {

static std::optional<uint64_t> take_number(std::string_view bytes, size_t& at) {
  uint64_t out = 0;
  for (unsigned shift = 0; at < bytes.size() && shift <= 56; shift += 7) {
    const auto c = static_cast<unsigned char>(bytes[at++]);
    out |= uint64_t{c & 0x7fu} << shift;
    if (!(c & 0x80)) return out;
  }
  return std::nullopt;
}

std::optional<DeltaSizes> delta_sizes(std::string_view delta) {
  DeltaSizes out;
  const std::optional<uint64_t> base = take_number(delta, out.length);
  const std::optional<uint64_t> result = base ? take_number(delta, out.length) : std::nullopt;
  if (!result) return std::nullopt;
  out.base = *base;
  out.result = *result;
  return out;
}

// The bytes of a copy's offset and size that are there, by the bits of the command.
static bool take_copy(std::string_view delta, size_t& at, unsigned command, size_t& offset,
                      size_t& size) {
  size_t fields[2] = {0, 0};
  for (unsigned bit = 0; bit < 7; bit++) {
    if (!(command & 1u << bit)) continue;
    if (at >= delta.size()) return false;
    const auto c = static_cast<unsigned char>(delta[at++]);
    fields[bit / 4] |= size_t{c} << (bit % 4 * 8);
  }
  offset = fields[0];
  size = fields[1] ? fields[1] : 0x10000;
  return true;
}

Result<std::string> apply_delta(std::string_view base, std::string_view delta, uint64_t limit) {
  static const auto broken = [] { return fail(Fault::corrupt, "damaged pack: bad delta"); };
  const std::optional<DeltaSizes> sizes = delta_sizes(delta);
  if (!sizes || sizes->base != base.size() || sizes->result > limit) return broken();
  std::string out;
  out.reserve(sizes->result);
  for (size_t at = sizes->length; at < delta.size();) {
    const auto command = static_cast<unsigned char>(delta[at++]);
    std::string_view piece;
    if (command & 0x80) {
      size_t offset, size;
      if (!take_copy(delta, at, command, offset, size)) return broken();
      if (offset > base.size() || size > base.size() - offset) return broken();
      piece = base.substr(offset, size);
    } else {
      if (command == 0 || command > delta.size() - at) return broken();
      piece = delta.substr(at, command);
      at += command;
    }
    if (piece.size() > sizes->result - out.size()) return broken();
    out.append(piece);
  }
  if (out.size() != sizes->result) return broken();
  return out;
}

}  // namespace sandglass::git
