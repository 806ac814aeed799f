#include "base/json.h"

#include "base/text.h"

namespace sandglass {

static bool plain(unsigned char c) {
  return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

static void append_escaped(std::string& out, unsigned char c) {
  static constexpr char kHex[] = "0123456789abcdef";
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += "\\u00";
      out += kHex[c >> 4];
      out += kHex[c & 15];
  }
}

void append_json_string(std::string& out, std::string_view s) {
  out += '"';
  while (!s.empty()) {
    size_t run = 0;
    while (run < s.size() && plain(static_cast<unsigned char>(s[run]))) run++;
    out.append(s.substr(0, run));
    s.remove_prefix(run);
    if (s.empty()) break;
    const size_t n = utf8_length(s);
    if (n == 0)
      out += "\xef\xbf\xbd";
    else if (n == 1)
      append_escaped(out, static_cast<unsigned char>(s[0]));
    else
      out.append(s.substr(0, n));
    s.remove_prefix(n == 0 ? 1 : n);
  }
  out += '"';
}

void JsonWriter::comma() {
  if (out_.empty()) return;
  const char last = out_.back();
  if (last != '{' && last != '[' && last != ':') out_ += ',';
}

JsonWriter& JsonWriter::open(char bracket) {
  comma();
  out_ += bracket;
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  out_ += bracket;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  comma();
  append_json_string(out_, name);
  out_ += ':';
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  comma();
  append_json_string(out_, text);
  return *this;
}

JsonWriter& JsonWriter::value(bool on) {
  return raw(on ? "true" : "false");
}
JsonWriter& JsonWriter::value(int64_t number) {
  return raw(std::to_string(number));
}
JsonWriter& JsonWriter::value(uint64_t number) {
  return raw(std::to_string(number));
}
JsonWriter& JsonWriter::null() {
  return raw("null");
}

JsonWriter& JsonWriter::raw(std::string_view json) {
  comma();
  out_.append(json);
  return *this;
}

}  // namespace sandglass
