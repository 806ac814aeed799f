#include "config/embed_schema.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "config/json_schema.h"
#include "config/json_walk.h"

namespace sandglass::config {
namespace {

using Json = nlohmann::ordered_json;

class Embedding {
 public:
  explicit Embedding(std::string_view place) : place_(place) {}

  // `settled`: what the schema allows is allowed, no other word turns it round.
  void take(Json& schema, bool settled) const {
    if (auto ref = schema.find("$ref"); ref != schema.end() && ref->is_string())
      *ref = moved(ref->get<std::string>());
    each_schema_below(schema, [&](std::string_view keyword, Json& below) {
      const bool value = keyword == "properties" || keyword == "additionalProperties" ||
                         keyword == "patternProperties" || keyword == "items";
      const bool still = settled && (value || keyword == "allOf" || keyword == "definitions");
      take(below, still);
      if (still && value) allow_variable(below);
    });
  }

 private:
  std::string moved(const std::string& ref) const {
    if (ref == "#") return place_;
    return ref.starts_with("#/") ? place_ + ref.substr(1) : ref;
  }

  static bool is_of(const Json& type, std::string_view name) {
    if (type.is_string()) return type == name;
    return std::find(type.begin(), type.end(), name) != type.end();
  }

  // Structure cannot come from a variable, and any text is one already.
  static bool needs_variable(const Json& schema) {
    if (schema.contains("$ref") || schema.contains("enum") || schema.contains("const")) return true;
    const auto type = schema.find("type");
    if (type == schema.end()) return false;
    if (is_of(*type, "string"))
      return schema.contains("pattern") || schema.contains("minLength") ||
             schema.contains("maxLength") || schema.contains("format");
    return is_of(*type, "boolean") || is_of(*type, "integer") || is_of(*type, "number");
  }

  static void allow_variable(Json& schema) {
    if (!needs_variable(schema)) return;
    Json out = Json::object();
    for (const char* word : {"title", "description", "default"}) {
      auto found = schema.find(word);
      if (found == schema.end()) continue;
      out[word] = *found;
      schema.erase(word);
    }
    out["anyOf"] = Json::array({schema, {{"type", "string"}, {"pattern", "\\$\\{"}}});
    schema = std::move(out);
  }

  std::string place_;
};

Json everything(const std::string& why) {
  return {{"$comment", "the plugin's own schema cannot be used: " + why}};
}

// Whether it can be read where it is to stand.
std::string fault_at(const Json& schema, std::string_view place) {
  const size_t slash = place.rfind('/');
  Json whole = {{"$ref", place}};
  whole["definitions"][std::string(place.substr(slash + 1))] = schema;
  return schema_fault(whole.dump());
}

}  // namespace

std::string embedded_schema(std::string_view schema, std::string_view place) {
  if (const std::string fault = schema_fault(schema); !fault.empty())
    return everything(fault).dump();
  Json out = Json::parse(schema);
  if (!out.is_object()) return out.dump();
  out.erase("$id");
  out.erase("$schema");
  Embedding(place).take(out, true);
  const std::string fault = fault_at(out, place);
  return (fault.empty() ? out : everything(fault)).dump();
}

}  // namespace sandglass::config
