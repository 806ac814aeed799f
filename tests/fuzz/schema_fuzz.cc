// A plugin's JSON Schema of any bytes and any settings: checked, or said to be broken. Put into the
// schema for whole files it leaves that one usable.
#include <nlohmann/json.hpp>

#include "config/json_schema.h"
#include "config/schema.h"
#include "config/yaml.h"
#include "fuzz.h"

using namespace sandglass;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Bytes bytes(data, size);
  const std::string schema(bytes.text());
  const auto source = config::Source::of(bytes.rest(), "fuzz.yaml");
  if (!source) return 0;
  const config::Parsed parsed = config::parse_yaml(*source);
  if (!parsed.complete) return 0;
  const auto problems = config::check_against_json_schema(parsed.root, schema, "with");
  for (const auto& problem : problems)
    fuzz::require(problem.text.find("with") != std::string::npos, "a problem says where",
                  problem.text);
  const std::string whole = config::json_schema({{config::Slot::hook, "x", "a hook", schema}});
  fuzz::require(nlohmann::json::accept(whole), "the whole is JSON", whole);
  fuzz::require(config::schema_fault(whole).empty(), "the whole can be used",
                config::schema_fault(whole));
  return 0;
}
