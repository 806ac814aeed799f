// Reads a patch as make_patch() writes it and applies it, by what the formats say: git's extended
// header, unified hunks.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "fuzz/fuzz.h"
#include "git/quote.h"

namespace sandglass::fuzz {

class Unpatch {
 public:
  Unpatch(std::string_view patch, std::string_view before) : left_(patch), before_(before) {}

  // Applies one file's patch and returns what it makes; nothing where it is binary.
  std::optional<std::string> apply(std::string_view path) {
    const std::string a = git::quote_name("a/" + std::string(path));
    const std::string b = git::quote_name("b/" + std::string(path));
    require(line() == "diff --git " + a + " " + b, "the first line names the file");
    while (at("old mode ") || at("new mode ") || at("new file mode ") || at("deleted file mode ") ||
           at("index "))
      line();
    if (at("Binary files ") || at("GIT binary patch")) return std::nullopt;
    if (left_.empty()) return std::string(before_);
    require(names("--- ", a), "the old name");
    require(names("+++ ", b), "the new name");
    while (at("@@ ")) hunk();
    require(left_.empty(), "nothing follows the hunks", left_);
    return out_.append(before_.substr(used_));
  }

 private:
  bool at(std::string_view begin) const { return left_.starts_with(begin); }

  std::string_view line() {
    const size_t end = left_.find('\n');
    require(end != left_.npos, "each line ends", left_);
    const std::string_view out = left_.substr(0, end);
    left_.remove_prefix(end + 1);
    return out;
  }

  bool names(std::string_view word, std::string_view name) {
    std::string_view text = line();
    if (!text.starts_with(word)) return false;
    text.remove_prefix(word.size());
    if (text.ends_with('\t')) text.remove_suffix(1);  // after a name with blanks
    return text == name || text == "/dev/null";
  }

  // "-12,3 " or "-12 ": where and how many.
  static std::pair<size_t, size_t> range(std::string_view& text) {
    char* end = nullptr;
    const std::string copy(text.substr(1));
    const size_t start = std::strtoul(copy.c_str(), &end, 10);
    size_t count = 1;
    if (*end == ',') count = std::strtoul(end + 1, &end, 10);
    text.remove_prefix(1 + static_cast<size_t>(end - copy.c_str()) + 1);
    return {start, count};
  }

  void hunk() {
    std::string_view head = line();
    head.remove_prefix(3);
    auto [old_at, old_count] = range(head);
    auto [new_at, new_count] = range(head);
    copy_until(old_count == 0 ? old_at + 1 : old_at);
    while (old_count + new_count > 0) {
      require(!left_.empty(), "a hunk has the lines it says");
      const char kind = left_[0];
      std::string text(line().substr(1));
      const bool no_end = at("\\ ");
      if (no_end)
        line();
      else
        text += '\n';
      if (kind != '+') {
        require(before_.substr(used_).starts_with(text), "an old line is there", text);
        used_ += text.size();
        line_ += !no_end;
        old_count--;
      }
      if (kind != '-') out_ += text, new_count--;
      require(kind == ' ' || kind == '+' || kind == '-', "a line's first letter");
    }
  }

  void copy_until(size_t target) {
    while (line_ < target) {
      const size_t end = before_.find('\n', used_);
      require(end != before_.npos, "a hunk begins inside the file");
      out_.append(before_.substr(used_, end + 1 - used_));
      used_ = end + 1;
      line_++;
    }
  }

  std::string_view left_, before_;
  std::string out_;
  size_t used_ = 0, line_ = 1;
};

}  // namespace sandglass::fuzz
