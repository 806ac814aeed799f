#include "git/wildmatch.h"

#include <algorithm>

namespace sandglass::git {

namespace {

// The byte at a position, 0 past the end, as in a C string.
unsigned char byte_at(std::string_view text, size_t at) {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
}

bool in_class(std::string_view name, unsigned char c, bool& known) {
  const bool upper = c >= 'A' && c <= 'Z', lower = c >= 'a' && c <= 'z';
  const bool digit = c >= '0' && c <= '9', alpha = upper || lower;
  const bool space = c == ' ' || c == '\t' || c == '\n' || c == '\r';  // git's own idea of it
  const bool print = c >= 0x20 && c < 0x7f;
  known = true;
  if (name == "alnum") return alpha || digit;
  if (name == "alpha") return alpha;
  if (name == "blank") return c == ' ' || c == '\t';
  if (name == "cntrl") return c < 0x20 || c == 0x7f;
  if (name == "digit") return digit;
  if (name == "graph") return print && !space;
  if (name == "lower") return lower;
  if (name == "print") return print;
  if (name == "punct") return print && !space && !alpha && !digit;
  if (name == "space") return space;
  if (name == "upper") return upper;
  if (name == "xdigit") return digit || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  known = false;
  return false;
}

}  // namespace

Wildmatch::Wildmatch(std::string_view pattern, Mode mode) : mode_(mode) {
  for (size_t at = 0; at < pattern.size();) {
    const unsigned char c = byte_at(pattern, at);
    if (c == '*') {
      at = add_stars(pattern, at);
    } else if (c == '[') {
      at = add_set(pattern, at + 1);
    } else if (c == '?') {
      tokens_.push_back({Kind::any});
      at++;
    } else if (c == '\\') {
      const bool dangling = at + 1 == pattern.size();
      tokens_.push_back({dangling ? Kind::never : Kind::literal, byte_at(pattern, at + 1)});
      at += 2;
    } else {
      tokens_.push_back({Kind::literal, c});
      at++;
    }
  }
}

size_t Wildmatch::add_stars(std::string_view pattern, size_t at) {
  const size_t end = std::min(pattern.find_first_not_of('*', at), pattern.size());
  const bool starts = at == 0 || pattern[at - 1] == '/';
  const unsigned char next = byte_at(pattern, end);
  const bool stops = next == 0 || next == '/' || (next == '\\' && byte_at(pattern, end + 1) == '/');
  const bool deep = mode_ == Mode::name || (end - at > 1 && starts && stops);
  if (deep && mode_ == Mode::path && next == '/') tokens_.push_back({Kind::shortcut});
  tokens_.push_back({deep ? Kind::deep : Kind::star});
  return end;
}

// `at` is after the bracket. Gives where the pattern goes on; a set that never closes ends it.
size_t Wildmatch::add_set(std::string_view pattern, size_t at) {
  const size_t malformed = pattern.size();
  Set set;
  const bool negated = byte_at(pattern, at) == '!' || byte_at(pattern, at) == '^';
  if (negated) at++;
  unsigned char previous = 0;  // 0: no range can begin here
  bool first = true;
  for (;; at++, first = false) {
    unsigned char c = byte_at(pattern, at);
    if (c == ']' && !first) break;
    const unsigned char next = byte_at(pattern, at + 1);
    if (c == '-' && previous && next && next != ']') {
      at += next == '\\' ? 2 : 1;
      c = byte_at(pattern, at);
      for (unsigned i = previous; c && i <= c; i++) set.set(i);
      previous = c ? 0 : previous;
    } else if (c == '[' && next == ':') {
      const size_t close = pattern.find(']', at + 2);
      if (close == std::string_view::npos) {
        c = 0;
      } else if (close == at + 2 || pattern[close - 1] != ':') {
        set.set(previous = c);
      } else {
        bool known = true;
        const std::string_view name = pattern.substr(at + 2, close - at - 3);
        for (unsigned i = 0; i < 256 && known; i++)
          if (in_class(name, static_cast<unsigned char>(i), known)) set.set(i);
        if (!known) c = 0;
        previous = 0;
        at = close;
      }
    } else {
      if (c == '\\') c = byte_at(pattern, ++at);
      set.set(previous = c);
    }
    if (c == 0) {
      tokens_.push_back({Kind::never});
      return malformed;
    }
  }
  if (negated) set.flip();
  tokens_.push_back({Kind::set, sets_.size()});
  sets_.push_back(set);
  return at + 1;
}

bool Wildmatch::accepts(const Token& token, unsigned char c) const {
  const bool slash = c == '/' && mode_ == Mode::path;
  switch (token.kind) {
    case Kind::literal:
      return token.value == c;
    case Kind::any:
    case Kind::star:
      return !slash;
    case Kind::set:
      return !slash && sets_[token.value].test(c);
    case Kind::deep:
      return true;
    case Kind::shortcut:
    case Kind::never:
      return false;
  }
  return false;
}

// Adds the states that can be had without taking a byte; all of them lie to the right.
void Wildmatch::close(std::vector<char>& states) const {
  for (size_t i = 0; i < tokens_.size(); i++) {
    if (!states[i]) continue;
    const Kind kind = tokens_[i].kind;
    if (kind == Kind::star || kind == Kind::deep || kind == Kind::shortcut) states[i + 1] = 1;
    if (kind == Kind::shortcut) states[i + 3] = 1;
  }
}

bool Wildmatch::matches(std::string_view text) const {
  std::vector<char> states(tokens_.size() + 1), next(tokens_.size() + 1);
  states[0] = 1;
  close(states);
  for (char raw : text) {
    const auto c = static_cast<unsigned char>(raw);
    std::fill(next.begin(), next.end(), 0);
    bool alive = false;
    for (size_t i = 0; i < tokens_.size(); i++) {
      if (!states[i] || !accepts(tokens_[i], c)) continue;
      const bool stays = tokens_[i].kind == Kind::star || tokens_[i].kind == Kind::deep;
      next[stays ? i : i + 1] = 1;
      alive = true;
    }
    if (!alive) return false;
    close(next);
    states.swap(next);
  }
  return states.back() != 0;
}

}  // namespace sandglass::git
