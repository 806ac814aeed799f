// Configuration as a tree of values with the place each came from. Read-only once parsed, safe from
// any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace sandglass::config {

struct Place {
  std::shared_ptr<const std::string> file;  // null: not from a file
  int line = 0, column = 0;                 // from 1
  std::string text() const;                 // "sandglass.yaml:3:5", or "" when not from a file
};

enum class Kind { null, boolean, integer, number, string, list, map };

class Value {
 public:
  // In value.cc, where a pair of Values is complete: Clang asks for that.
  Value();
  Value(const Value&);
  Value(Value&&) noexcept;
  Value& operator=(const Value&);
  Value& operator=(Value&&) noexcept;
  ~Value();

  Kind kind = Kind::null;
  bool boolean = false;
  int64_t integer = 0;
  double number = 0;
  std::string string;   // a string's text; for other scalars the text as it was written
  bool quoted = false;  // the scalar was quoted in YAML, or a block of text
  std::string written;  // the text before ${NAME} was filled in; empty: nothing was
  Place place;
  std::vector<Value> list;
  std::vector<std::pair<Value, Value>> map;  // in file order; keys are strings

  const Value* find(std::string_view key) const;            // of a map, or null
  const Value* at_pointer(std::string_view pointer) const;  // JSON Pointer, "" is this
  std::string to_json() const;                              // canonical: keys sorted

  static Value of(std::string text);
  static Value of(const char* text);  // without it a literal would become a boolean
  static Value of(bool on);
  static Value of(int64_t n);
  static Value make_map();
  static Value make_list();
  void set(std::string key, Value value);  // of a map; replaces
};

// "700ms", "10s", "1.5m", "1h", "30d" (also us, ns): a unit is required. Nanoseconds, never
// negative.
Result<int64_t> parse_duration(std::string_view text);
// "10 MB" is 10^7 bytes, "10 MiB" 10 * 2^20; a bare number is bytes. Never negative. The error
// texts of both say what to write, and stand alone: "\"5\" has no unit; write ...".
Result<int64_t> parse_size(std::string_view text);

}  // namespace sandglass::config
