#include "config/value.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/json.h"
#include "base/text.h"

namespace sandglass::config {

std::string Place::text() const {
  if (!file) return "";
  return shown(*file) + ":" + std::to_string(line) + ":" + std::to_string(column);
}

Value::Value() = default;
Value::Value(const Value&) = default;
Value::Value(Value&&) noexcept = default;
Value& Value::operator=(const Value&) = default;
Value& Value::operator=(Value&&) noexcept = default;
Value::~Value() = default;

const Value* Value::find(std::string_view key) const {
  if (kind != Kind::map) return nullptr;
  for (const auto& [name, value] : map)
    if (name.string == key) return &value;
  return nullptr;
}

// One reference token of a JSON Pointer (RFC 6901): ~1 is a slash, ~0 a tilde.
static std::string unescape(std::string_view token) {
  std::string out;
  for (size_t i = 0; i < token.size(); i++) {
    const bool escape = token[i] == '~' && i + 1 < token.size();
    if (escape && (token[i + 1] == '0' || token[i + 1] == '1'))
      out += token[++i] == '0' ? '~' : '/';
    else
      out += token[i];
  }
  return out;
}

static const Value* element(const Value& list, const std::string& token) {
  size_t index = 0;
  const char* end = token.data() + token.size();
  auto [stop, error] = std::from_chars(token.data(), end, index);
  const bool canonical = token.size() == 1 || (!token.empty() && token[0] != '0');
  if (error != std::errc() || stop != end || !canonical || index >= list.list.size())
    return nullptr;
  return &list.list[index];
}

const Value* Value::at_pointer(std::string_view pointer) const {
  const Value* at = this;
  while (at && !pointer.empty()) {
    if (pointer[0] != '/') return nullptr;
    pointer.remove_prefix(1);
    const size_t end = std::min(pointer.find('/'), pointer.size());
    const std::string token = unescape(pointer.substr(0, end));
    pointer.remove_prefix(end);
    at = at->kind == Kind::list ? element(*at, token) : at->find(token);
  }
  return at;
}

static void append_number(std::string& out, double number) {
  char text[32];
  auto [end, error] = std::to_chars(text, text + sizeof text, number);
  if (std::isfinite(number) && error == std::errc())
    out.append(text, end);
  else
    out += "null";  // JSON has no infinities; the reader makes none either
}

static void append_value(std::string& out, const Value& value);

static void append_map(std::string& out, const Value& value) {
  std::vector<const std::pair<Value, Value>*> sorted;
  for (const auto& entry : value.map) sorted.push_back(&entry);
  std::sort(sorted.begin(), sorted.end(),
            [](auto* a, auto* b) { return a->first.string < b->first.string; });
  out += '{';
  for (const auto* entry : sorted) {
    if (entry != sorted.front()) out += ',';
    append_json_string(out, entry->first.string);
    out += ':';
    append_value(out, entry->second);
  }
  out += '}';
}

static void append_list(std::string& out, const Value& value) {
  out += '[';
  for (const Value& item : value.list) {
    if (&item != &value.list.front()) out += ',';
    append_value(out, item);
  }
  out += ']';
}

static void append_value(std::string& out, const Value& value) {
  switch (value.kind) {
    case Kind::null:
      out += "null";
      return;
    case Kind::boolean:
      out += value.boolean ? "true" : "false";
      return;
    case Kind::integer:
      out += std::to_string(value.integer);
      return;
    case Kind::number:
      append_number(out, value.number);
      return;
    case Kind::string:
      append_json_string(out, value.string);
      return;
    case Kind::list:
      append_list(out, value);
      return;
    case Kind::map:
      append_map(out, value);
      return;
  }
}

std::string Value::to_json() const {
  std::string out;
  append_value(out, *this);
  return out;
}

Value Value::of(std::string text) {
  Value value;
  value.kind = Kind::string;
  value.string = std::move(text);
  return value;
}

Value Value::of(const char* text) {
  return of(std::string(text));
}

Value Value::of(bool on) {
  Value value;
  value.kind = Kind::boolean;
  value.boolean = on;
  value.string = on ? "true" : "false";
  return value;
}

Value Value::of(int64_t n) {
  Value value;
  value.kind = Kind::integer;
  value.integer = n;
  value.string = std::to_string(n);
  return value;
}

Value Value::make_map() {
  Value value;
  value.kind = Kind::map;
  return value;
}

Value Value::make_list() {
  Value value;
  value.kind = Kind::list;
  return value;
}

void Value::set(std::string key, Value value) {
  for (auto& [name, old] : map) {
    if (name.string != key) continue;
    old = std::move(value);
    return;
  }
  map.emplace_back(of(std::move(key)), std::move(value));
}

}  // namespace sandglass::config
