#include "git/hunks.h"

#include <git2.h>

#include <algorithm>

#include "base/text.h"

namespace sandglass::git {

namespace {

constexpr size_t kMaxHeading = 80;  // git's, in bytes

bool starts_function(std::string_view line) {
  const char c = line.empty() ? '\0' : line[0];
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

// git cuts the heading at the first byte that is not UTF-8; U+FFFE and U+FFFF count as none.
std::string_view utf8_start(std::string_view text) {
  size_t at = 0;
  while (const size_t n = utf8_length(text.substr(at))) {
    const std::string_view c = text.substr(at, n);
    if (c == "\xef\xbf\xbe" || c == "\xef\xbf\xbf") break;
    at += n;
  }
  return text.substr(0, at);
}

// Walks the old text once and knows the last line that looks like the head of a function. libgit2
// forgets it from one hunk to the next, so it is found here.
class Headings {
 public:
  explicit Headings(std::string_view text) : rest_(text) {}

  // Of the lines before `line` (from 1). Lines must be asked for in rising order.
  std::string_view before(int line) {
    for (; at_ < line && !rest_.empty(); at_++) {
      const std::string_view text = rest_.substr(0, rest_.find('\n'));
      rest_.remove_prefix(std::min(rest_.size(), text.size() + 1));
      if (starts_function(text)) last_ = text.substr(0, kMaxHeading);
    }
    const size_t end = last_.find_last_not_of(" \t\r\n");
    return utf8_start(last_.substr(0, end == last_.npos ? 0 : end + 1));
  }

 private:
  std::string_view rest_, last_;
  int at_ = 1;
};

void append_range(std::string& out, int start, int lines) {
  out += std::to_string(start);
  if (lines != 1) out += ',' + std::to_string(lines);
}

// git's indent heuristic takes form feed and vertical tab for text, libgit2 takes them for blanks.
// So it gets to see other bytes in their place; swapping again restores them.
bool has_odd_blanks(std::string_view text) {
  return text.find_first_of("\f\v") != text.npos;
}

void swap_odd_blanks(std::string& text, size_t from = 0) {
  for (size_t i = from; i < text.size(); i++) {
    const char c = text[i];
    if (c == '\f' || c == '\v')
      text[i] = static_cast<char>(c + 3);  // \x0f, \x0e
    else if (c == '\x0e' || c == '\x0f')
      text[i] = static_cast<char>(c - 3);
  }
}

struct Writer {
  std::string out;
  Headings headings;
  int skipped = 0;  // lines before the part that is compared
  bool swapped = false;

  void hunk(const git_diff_hunk& hunk) {
    out += "@@ -";
    append_range(out, hunk.old_start + skipped, hunk.old_lines);
    out += " +";
    append_range(out, hunk.new_start + skipped, hunk.new_lines);
    out += " @@";
    if (const auto heading = headings.before(hunk.old_start + skipped); !heading.empty())
      (out += ' ') += heading;
    out += '\n';
  }

  void line(const git_diff_line& line) {
    const bool text = line.origin == GIT_DIFF_LINE_CONTEXT ||
                      line.origin == GIT_DIFF_LINE_ADDITION ||
                      line.origin == GIT_DIFF_LINE_DELETION;
    if (text) out += line.origin;
    const size_t at = out.size();
    out.append(line.content, line.content_len);  // else the marker of a missing newline
    if (swapped) swap_odd_blanks(out, at);
  }
};

int on_hunk(const git_diff_delta*, const git_diff_hunk* hunk, void* payload) {
  static_cast<Writer*>(payload)->hunk(*hunk);
  return 0;
}

int on_line(const git_diff_delta*, const git_diff_hunk*, const git_diff_line* line, void* payload) {
  static_cast<Writer*>(payload)->line(*line);
  return 0;
}

// Comparing costs memory and time for every line, so of large texts only the part around what
// differs is compared; and where that is large as well it is replaced as a whole.
constexpr size_t kLarge = 1u << 20;            // bytes of both texts
constexpr size_t kMargin = 500, kContext = 3;  // equal lines that are kept on either side
constexpr ptrdiff_t kMaxCompared = 100'000;    // lines of both parts

ptrdiff_t count_lines(std::string_view text) {
  return std::count(text.begin(), text.end(), '\n') + (!text.empty() && text.back() != '\n');
}

// What both begin with, in whole lines but for the last `margin`.
size_t common_start(std::string_view a, std::string_view b, size_t margin) {
  size_t at = static_cast<size_t>(
      std::mismatch(a.begin(), a.begin() + static_cast<ptrdiff_t>(std::min(a.size(), b.size())),
                    b.begin())
          .first -
      a.begin());
  for (size_t line = 0; line <= margin && at > 0; line++)
    at = at < 2 ? 0 : a.rfind('\n', at - (line == 0 ? 1 : 2)) + 1;
  return at;
}

// The same of their ends; `from` bytes of both are not looked at.
size_t common_end(std::string_view a, std::string_view b, size_t from, size_t margin) {
  const size_t most = std::min(a.size(), b.size()) - from;
  size_t length = 0;
  while (length < most && a[a.size() - 1 - length] == b[b.size() - 1 - length]) length++;
  size_t at = a.size() - length;
  for (size_t line = 0; line <= margin; line++) {
    const size_t end = a.find('\n', at);
    if (end == a.npos) return 0;
    at = end + 1;
  }
  return a.size() - at;
}

void append_lines(std::string& out, char mark, std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    ((out += mark) += line) += '\n';
    if (line.size() == text.size()) out += "\\ No newline at end of file\n";
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
}

// One hunk that takes all old lines away and adds all new ones, between equal ones.
std::string replaced(std::string_view before, std::string_view after) {
  const size_t near = common_start(before, after, 0), lead = common_start(before, after, kContext);
  const size_t far = common_end(before, after, near, 0),
               trail = common_end(before, after, near, kContext);
  git_diff_hunk hunk{};
  hunk.old_lines = static_cast<int>(count_lines(before.substr(lead, before.size() - lead - trail)));
  hunk.new_lines = static_cast<int>(count_lines(after.substr(lead, after.size() - lead - trail)));
  const int skipped = static_cast<int>(count_lines(before.substr(0, lead)));
  hunk.old_start = hunk.old_lines > 0, hunk.new_start = hunk.new_lines > 0;
  Writer writer{"", Headings(before), skipped};
  writer.hunk(hunk);
  append_lines(writer.out, ' ', before.substr(lead, near - lead));
  append_lines(writer.out, '-', before.substr(near, before.size() - near - far));
  append_lines(writer.out, '+', after.substr(near, after.size() - near - far));
  append_lines(writer.out, ' ', before.substr(before.size() - far, far - trail));
  return std::move(writer.out);
}

Result<std::string> compared(std::string_view before, std::string_view after, Writer& writer) {
  [[maybe_unused]] static const int started = git_libgit2_init();
  git_diff_options options = GIT_DIFF_OPTIONS_INIT;
  options.flags = GIT_DIFF_FORCE_TEXT | GIT_DIFF_INDENT_HEURISTIC;
  std::string copies[2];
  writer.swapped = has_odd_blanks(before) || has_odd_blanks(after);
  if (writer.swapped) {
    swap_odd_blanks(copies[0] = before);
    swap_odd_blanks(copies[1] = after);
    before = copies[0];
    after = copies[1];
  }
  const int code =
      git_diff_buffers(before.data(), before.size(), nullptr, after.data(), after.size(), nullptr,
                       &options, nullptr, nullptr, on_hunk, on_line, &writer);
  if (code < 0) {
    const git_error* error = git_error_last();
    return fail(Fault::failed, "cannot compare: " + shown(error ? error->message : "libgit2"));
  }
  return std::move(writer.out);
}

}  // namespace

Result<std::string> make_hunks(std::string_view before, std::string_view after) {
  if (before == after) return std::string();
  if (before.empty() || after.empty()) return replaced(before, after);
  size_t start = 0, end = 0;
  if (before.size() + after.size() > kLarge) {
    start = common_start(before, after, kMargin);
    end = common_end(before, after, start, kMargin);
  }
  const std::string_view old_part = before.substr(start, before.size() - start - end),
                         new_part = after.substr(start, after.size() - start - end);
  if (start + end + kLarge < before.size() + after.size() &&
      count_lines(old_part) + count_lines(new_part) > kMaxCompared)
    return replaced(before, after);
  Writer writer{"", Headings(before), static_cast<int>(count_lines(before.substr(0, start)))};
  return compared(old_part, new_part, writer);
}

}  // namespace sandglass::git
