#include "git/gitconfig.h"

#include <optional>

namespace sandglass::git {

namespace {

bool is_alnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}
char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  GitConfig run() {
    GitConfig out;
    std::string section;
    for (;;) {
      skip_blank();
      if (at_ == text_.size()) return out;
      if (text_[at_] == '[') {
        std::optional<std::string> name = read_section();
        if (!name) return out;
        section = *name;
      } else {
        const std::string key = read_key();
        const std::optional<std::string> value = key.empty() ? std::nullopt : read_value();
        if (!value) return out;
        out[section + "." + key] = *value;
      }
    }
  }

 private:
  char next() { return at_ < text_.size() ? text_[at_++] : '\n'; }

  void skip_blank() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#' || c == ';')
        at_ = std::min(text_.size(), text_.find('\n', at_));
      else if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
        at_++;
      else
        return;
    }
  }

  std::optional<std::string> read_section() {
    std::string out;
    at_++;
    for (char c = next(); c != ']'; c = next()) {
      if (c == ' ' || c == '\t') continue;
      if (c == '"') {
        out += '.';
        for (c = next(); c != '"'; c = next()) {
          if (c == '\\') c = next();
          if (c == '\n') return std::nullopt;
          out += c;
        }
        continue;
      }
      if (!is_alnum(c) && c != '-' && c != '.') return std::nullopt;
      out += lower(c);
    }
    return out;
  }

  std::string read_key() {
    std::string out;
    while (at_ < text_.size() && (is_alnum(text_[at_]) || text_[at_] == '-'))
      out += lower(text_[at_++]);
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) at_++;
    return out;
  }

  // A key without "=" is true.
  std::optional<std::string> read_value() {
    char c = next();
    if (c == '\r') c = next();
    if (c == '\n') return "true";
    if (c != '=') return std::nullopt;
    std::string out;
    bool quoted = false;
    size_t keep = 0;  // up to here nothing is trailing blank
    for (c = next(); c != '\n' || quoted; c = next()) {
      if (c == '\n') return std::nullopt;  // inside quotes
      if (!quoted && (c == '#' || c == ';')) {
        while (c != '\n') c = next();
        break;
      }
      if (!quoted && out.empty() && (c == ' ' || c == '\t')) continue;
      if (c == '"') {
        quoted = !quoted;
        keep = out.size();
        continue;
      }
      if (c == '\\') {
        c = next();
        if (c == '\n') continue;
        if (c == 'n' || c == 't' || c == 'b') c = c == 'n' ? '\n' : c == 't' ? '\t' : '\b';
        out += c;
        keep = out.size();
        continue;
      }
      out += c;
      if (quoted || (c != ' ' && c != '\t' && c != '\r')) keep = out.size();
    }
    out.resize(keep);
    return out;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

GitConfig parse_git_config(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  return Reader(text).run();
}

}  // namespace sandglass::git
