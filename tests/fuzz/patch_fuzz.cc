// Any two contents and any name give a patch that makes the one out of the other, or an error.
#include "git/patch.h"
#include "unpatch.h"

using namespace sandglass;

namespace {

// A name in C quotes, read as git's manual says it is written.
std::string c_unquoted(std::string_view text) {
  if (!text.starts_with('"')) return std::string(text);
  static constexpr std::string_view kLetters = "abtnvfr\"\\", kMeant = "\a\b\t\n\v\f\r\"\\";
  std::string out;
  for (size_t i = 1; i + 1 < text.size(); i++) {
    if (text[i] != '\\') {
      fuzz::require(text[i] >= ' ' && text[i] < '\x7f' && text[i] != '"', "plain bytes only", text);
      out += text[i];
      continue;
    }
    const size_t letter = kLetters.find(text[++i]);
    if (letter != kLetters.npos) {
      out += kMeant[letter];
    } else {
      const std::string digits(text.substr(i, 3));
      fuzz::require(digits.find_first_not_of("01234567") == digits.npos, "octal digits", text);
      out += static_cast<char>(std::stoi(digits, nullptr, 8));
      i += 2;
    }
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 3) return 0;
  const std::string_view all(reinterpret_cast<const char*>(data + 3), size - 3);
  const size_t name = data[0] % (all.size() + 1), before = name + data[1] % (all.size() - name + 1);
  const std::string_view path = name == 0 ? std::string_view("f") : all.substr(0, name);
  const std::string quoted = git::quote_name(path);
  fuzz::require(c_unquoted(quoted) == path, "a quoted name reads as the name", quoted);
  if (quoted.starts_with('"'))
    fuzz::require(git::unquote_name(quoted) == path, "unquote_name() is the reverse", quoted);
  std::optional<git::Side> old_side{{0100644, all.substr(name, before - name)}};
  std::optional<git::Side> new_side{{0100644, all.substr(before)}};
  if (data[2] & 1) old_side->mode = 0100755;
  if (data[2] & 2) new_side->mode = 0100755;
  if (data[2] & 4) old_side.reset();
  if (data[2] & 8) new_side.reset();
  const auto patch = git::make_patch(path, old_side, new_side);
  if (!patch) return 0;
  const std::string_view from = old_side ? old_side->bytes : "",
                         to = new_side ? new_side->bytes : "";
  if (patch->empty()) {
    fuzz::require(old_side.has_value() == new_side.has_value() && from == to,
                  "no patch: nothing differs");
    return 0;
  }
  const auto made = fuzz::Unpatch(*patch, from).apply(path);
  if (made)
    fuzz::require(*made == to, "the patch makes the new content", *patch);
  else
    fuzz::require(git::is_binary(from) || git::is_binary(to), "only binary content has no hunks");
  return 0;
}
