#include "git/patch.h"

#include "base/text.h"
#include "git/binary_patch.h"
#include "git/hunks.h"
#include "git/quote.h"

namespace sandglass::git {

namespace {

constexpr size_t kLookedAt = 8000;
constexpr uint32_t kTypeBits = 0170000;

std::string octal(uint32_t mode) {
  std::string out;
  for (int shift = 15; shift >= 0; shift -= 3) out += static_cast<char>('0' + (mode >> shift & 7));
  return out;
}

struct Names {
  std::string old_name, new_name;  // "a/path", quoted where needed, or /dev/null
};

// "--- a/x y" gets a tab at its end, so that readers know where the name ends.
void append_name_line(std::string& out, std::string_view mark, const std::string& name) {
  (out += mark) += name;
  if (name.find(' ') != std::string::npos) out += '\t';
  out += '\n';
}

std::string mode_lines(const Side* before, const Side* after) {
  if (!before) return "new file mode " + octal(after->mode) + '\n';
  if (!after) return "deleted file mode " + octal(before->mode) + '\n';
  if (before->mode == after->mode) return "";
  return "old mode " + octal(before->mode) + "\nnew mode " + octal(after->mode) + '\n';
}

Result<Oid> id_of(const Side* side) {
  if (!side) return Oid{};
  if (side->id) return *side->id;
  const std::optional<Oid> id = object_id(ObjectType::blob, side->bytes);
  if (!id) return fail(Fault::corrupt, "the content is a SHA-1 collision attack");
  return *id;
}

Result<std::string> body(std::string_view before, std::string_view after, const Names& names,
                         BinaryPatch binary) {
  if (is_binary(before) || is_binary(after)) {
    if (binary == BinaryPatch::full) return make_binary_body(before, after);
    return "Binary files " + names.old_name + " and " + names.new_name + " differ\n";
  }
  Result<std::string> hunks = make_hunks(before, after);
  if (!hunks || hunks->empty()) return hunks;
  std::string out;
  append_name_line(out, "--- ", names.old_name);
  append_name_line(out, "+++ ", names.new_name);
  return out + *hunks;
}

Result<std::string> patch_of(std::string_view path, const Side* before, const Side* after,
                             BinaryPatch binary) {
  const Result<Oid> old_id = id_of(before), new_id = id_of(after);
  if (!old_id) return tl::unexpected(old_id.error());
  if (!new_id) return tl::unexpected(new_id.error());
  const bool same_bytes = before && after && *old_id == *new_id;
  if (same_bytes && before->mode == after->mode) return std::string();

  const std::string a = quote_name("a/" + std::string(path)),
                    b = quote_name("b/" + std::string(path));
  std::string out = "diff --git " + a + ' ' + b + '\n' + mode_lines(before, after);
  if (same_bytes) return out;
  out += "index " + to_hex(*old_id) + ".." + to_hex(*new_id);
  if (before && after && before->mode == after->mode) out += ' ' + octal(before->mode);
  out += '\n';
  const Names names{before ? a : "/dev/null", after ? b : "/dev/null"};
  const Result<std::string> rest = body(before ? before->bytes : std::string_view(),
                                        after ? after->bytes : std::string_view(), names, binary);
  if (!rest) return rest;
  return out + *rest;
}

}  // namespace

bool is_binary(std::string_view bytes) {
  return bytes.substr(0, kLookedAt).find('\0') != std::string_view::npos;
}

Result<std::string> make_patch(std::string_view path, const std::optional<Side>& before,
                               const std::optional<Side>& after, BinaryPatch binary) {
  const Side* old_side = before ? &*before : nullptr;
  const Side* new_side = after ? &*after : nullptr;
  if (!old_side && !new_side) return std::string();
  const bool other_type =
      old_side && new_side && (old_side->mode & kTypeBits) != (new_side->mode & kTypeBits);
  if (!other_type) return patch_of(path, old_side, new_side, binary);
  const Result<std::string> removed = patch_of(path, old_side, nullptr, binary);
  if (!removed) return removed;
  const Result<std::string> added = patch_of(path, nullptr, new_side, binary);
  if (!added) return added;
  return *removed + *added;
}

}  // namespace sandglass::git
