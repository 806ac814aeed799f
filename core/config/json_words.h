// Reads a JSON Schema for people: which parts of it speak of a value, and what they say is wrong.
// Included by json_schema.cc and json_words.cc only.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "config/problem.h"

namespace sandglass::config {

using Json = nlohmann::json;

class SchemaWords {
 public:
  explicit SchemaWords(const Json& root) : root_(root) {}

  // The schemas that hold for `value` when `schema` does: itself, what it refers to, all of
  // `allOf`, and the one form of `anyOf` or `oneOf` that takes values of this kind.
  std::vector<const Json*> parts(const Json& schema, const Value& value) const;
  // The schemas of an entry or an item below those.
  std::vector<const Json*> below(const std::vector<const Json*>& parts,
                                 const std::string& key) const;
  std::vector<const Json*> below(const std::vector<const Json*>& parts, size_t index) const;

  struct Fault {
    std::string key;      // of the entry it is about, or empty
    bool at_key = false;  // the key itself is wrong
    std::string what;
  };
  // What these schemas have against the value itself, not what is below it.
  std::vector<Fault> faults(const std::vector<const Json*>& parts, const Value& value) const;
  // The same for `format: duration` and `size`; "" when there is nothing.
  std::string format_fault(const Json& schema, const Value& value) const;

 private:
  const Json& resolved(const Json& schema) const;
  void add_parts(const Json& schema, const Value& value, int depth,
                 std::vector<const Json*>& out) const;
  bool admits(const Json& schema, const Value& value) const;
  std::string format_fault(const Json& schema, const Value& value, int depth) const;
  std::string form_words(const Json& schema) const;
  bool form_fault(const Json& schema, const Value& value, std::string& what) const;
  void key_faults(const Json& schema, const Value& value, std::vector<Fault>& out) const;

  const Json& root_;
};

}  // namespace sandglass::config
