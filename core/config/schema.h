// One table of every key a configuration file may hold (keys.cc). The check, the JSON Schema for
// editors and the list of known keys in messages all come from it.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/problem.h"

namespace sandglass::config {

enum class Form {
  flag,      // true or false; `low` 1: only true
  whole,     // an integer from low to high
  text,      // `accepts` may narrow it
  duration,  // text with a unit; low to high in nanoseconds
  list,      // of `each`
  map,       // of `keys` and nothing else
  table,     // of names that `accepts` takes, each with an `each`
  anything,  // a map that someone else checks
};

struct Rule;

struct Key {
  std::string_view name;
  const Rule* rule;
  std::string_view doc;            // for editors and the manual
  std::string_view fallback = {};  // the default as JSON; empty: none
  bool required = false;
};

struct Shape {
  Form form;
  std::span<const Key> keys = {};
  const Rule* each = nullptr;
  bool (*accepts)(std::string_view) = nullptr;
  std::string_view pattern = {};     // what `accepts` takes, as a regular expression
  std::string_view name_words = {};  // table: what a name must be, completes "write ..."
  int64_t low = 0;
  int64_t high = std::numeric_limits<int64_t>::max();
};

// The plugin types whose names may stand at a place.
enum class Slot { none, provider, watcher, hook };

// What may stand at a place: one of the shapes, told apart by the kind of the value.
struct Rule {
  std::string_view wanted;  // completes "write ...": "a duration such as 700ms"
  std::span<const Shape> shapes;
  Slot slot = Slot::none;
};

const Rule& configuration_rule();

// Everything wrong below `value`, in no particular order.
std::vector<Problem> check(const Value& value, const Rule& rule);

// A plugin type that a file may name.
struct UsableType {
  Slot slot = Slot::none;
  std::string name, summary;
  std::string schema;  // JSON Schema of `with:`; empty: takes everything
};

// The table as JSON Schema (draft 7): what `sandglass schema` prints and editors complete from.
// Where types of a slot are given, only their names may stand there, and the type's own schema
// checks `with:`.
std::string json_schema(const std::vector<UsableType>& types = {});

// "700ms", "90s", "1h": the largest unit that gives a whole number.
std::string duration_text(int64_t ns);

}  // namespace sandglass::config
