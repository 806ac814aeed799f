#include "patch.h"

#include <algorithm>
#include <charconv>

namespace hook_log {
namespace {

struct Hunk {
  uint64_t old_lines = 0, new_lines = 0;  // still to come
};

// Reads "12,3" or "12" from the front of `text`: the count, 1 when it is left out.
uint64_t range(std::string_view& text) {
  uint64_t start = 0, count = 1;
  const char* end = text.data() + text.size();
  auto read = std::from_chars(text.data(), end, start);
  if (read.ptr != end && *read.ptr == ',') read = std::from_chars(read.ptr + 1, end, count);
  text.remove_prefix(static_cast<size_t>(read.ptr - text.data()));
  return count;
}

// "@@ -1,3 +1,4 @@ ..."
bool is_hunk(std::string_view line, Hunk& out) {
  constexpr std::string_view kOld = "@@ -", kNew = " +";
  if (line.substr(0, kOld.size()) != kOld) return false;
  line.remove_prefix(kOld.size());
  out.old_lines = range(line);
  if (line.substr(0, kNew.size()) != kNew) return false;
  line.remove_prefix(kNew.size());
  out.new_lines = range(line);
  return true;
}

// One line of a hunk; "\ No newline at end of file" is none.
void count(std::string_view line, Hunk& left, Stat& out) {
  const char mark = line.empty() ? ' ' : line[0];
  if (mark == '\\') return;
  if (mark != '+' && left.old_lines > 0) left.old_lines--;
  if (mark != '-' && left.new_lines > 0) left.new_lines--;
  if (mark == '+') out.added++;
  if (mark == '-') out.removed++;
}

}  // namespace

Stat count_lines(std::string_view patch) {
  Stat out;
  Hunk left;
  while (!patch.empty()) {
    const size_t end = std::min(patch.find('\n'), patch.size());
    const std::string_view line = patch.substr(0, end);
    patch.remove_prefix(std::min(end + 1, patch.size()));
    if (left.old_lines > 0 || left.new_lines > 0)
      count(line, left, out);
    else
      is_hunk(line, left);
  }
  return out;
}

std::string to_text(Stat stat) {
  std::string out;
  if (stat.added > 0) out = "+" + std::to_string(stat.added);
  if (stat.removed > 0) out += (out.empty() ? "-" : " -") + std::to_string(stat.removed);
  return out;
}

}  // namespace hook_log
