// Glob patterns with exactly the meaning git gives them: `?`, `*`, `**`, `[a-z]`, `[[:alpha:]]`,
// `[!x]`, backslash escapes, on bytes.
#pragma once

#include <bitset>
#include <cstdint>
#include <string_view>
#include <vector>

namespace sandglass::git {

// A compiled pattern. Matching takes time proportional to pattern times text, whatever the pattern:
// an agent cannot stall us with `*a*a*a*a*b`. Immutable, any thread.
class Wildmatch {
 public:
  enum class Mode {
    name,  // `*` matches everything
    path,  // `/` is matched only by `/` and by `**` that stands alone between slashes
  };
  Wildmatch(std::string_view pattern, Mode mode);
  bool matches(std::string_view text) const;

 private:
  enum class Kind : uint8_t {
    literal,   // the byte `value`
    any,       // one byte
    set,       // one byte of sets_[value]
    star,      // any bytes but '/'
    deep,      // any bytes
    shortcut,  // go on here or after the next two tokens: the "**/" that may match nothing
    never,     // malformed: matches nothing
  };
  struct Token {
    Kind kind;
    size_t value = 0;
  };
  using Set = std::bitset<256>;

  size_t add_stars(std::string_view pattern, size_t at);
  size_t add_set(std::string_view pattern, size_t at);
  bool accepts(const Token& token, unsigned char c) const;
  void close(std::vector<char>& states) const;

  Mode mode_;
  std::vector<Token> tokens_;
  std::vector<Set> sets_;
};

}  // namespace sandglass::git
