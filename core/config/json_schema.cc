#include "config/json_schema.h"

#include <algorithm>
#include <set>
// Without this it ends the process where it should throw.
#define VALIJSON_USE_EXCEPTIONS 1
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "base/text.h"
#include "config/json_walk.h"
#include "config/json_words.h"

namespace sandglass::config {

namespace {

using Adapter = valijson::adapters::NlohmannJsonAdapter;
using Steps = std::vector<std::string>;  // keys and indexes from `with` down

// std::regex recurses for every character it matches.
constexpr size_t kMaxTextForPatterns = 4096;

// `format` is ours to check; valijson's own would throw at values that are not text.
void drop_formats(Json& schema) {
  if (!schema.is_object()) return;
  if (auto format = schema.find("format"); format != schema.end() && format->is_string())
    schema.erase(format);
  each_schema_below(schema, [](std::string_view, Json& below) { drop_formats(below); });
}

void compile(const Json& schema, valijson::Schema& out) {
  Json plain = schema;
  drop_formats(plain);
  valijson::SchemaParser(valijson::SchemaParser::kDraft7).populateSchema(Adapter(plain), out);
}

Json parsed_schema(std::string_view text) {
  Json schema = Json::parse(text);
  if (!schema.is_object() && !schema.is_boolean()) throw std::runtime_error("it is not an object");
  return schema;
}

bool holds_long_text(const Value& value) {
  auto longer = [](const Value& item) { return holds_long_text(item); };
  return value.string.size() > kMaxTextForPatterns ||
         std::any_of(value.list.begin(), value.list.end(), longer) ||
         std::any_of(value.map.begin(), value.map.end(), [](const auto& entry) {
           return holds_long_text(entry.first) || holds_long_text(entry.second);
         });
}

class SettingsCheck {
 public:
  SettingsCheck(const Value& with, const Json& schema, std::string_view path)
      : with_(with), schema_(schema), words_(schema), path_(path) {}

  std::vector<Problem> run() {
    valijson::Schema compiled;
    compile(schema_, compiled);
    const Json target = Json::parse(with_.to_json());
    valijson::ValidationResults results;
    valijson::Validator validator;
    validator.validate(compiled, Adapter(target), &results);
    for (const auto& error : results) told_[steps_of(error.context)].push_back(error.description);
    for (const auto& [steps, descriptions] : told_) explain(steps, descriptions);
    formats(with_, {&schema_}, std::string(path_));
    put_in_order(problems_);
    return std::move(problems_);
  }

 private:
  // valijson names a place ["<root>", "[retry]", "[0]"].
  static Steps steps_of(const std::vector<std::string>& context) {
    Steps out;
    for (size_t i = 1; i < context.size(); i++)
      out.push_back(context[i].substr(1, context[i].size() - 2));
    return out;
  }

  struct Spot {
    const Value* value;
    std::string path;
    std::vector<const Json*> parts;
  };

  std::vector<const Json*> parts_of(const std::vector<const Json*>& schemas,
                                    const Value& value) const {
    std::vector<const Json*> out;
    for (const Json* schema : schemas)
      for (const Json* part : words_.parts(*schema, value)) out.push_back(part);
    return out;
  }

  Spot find(const Steps& steps) const {
    Spot spot{&with_, std::string(path_), parts_of({&schema_}, with_)};
    for (const std::string& step : steps) {
      const Value* next = nullptr;
      std::vector<const Json*> schemas;
      if (spot.value->kind == Kind::list) {
        const size_t index = static_cast<size_t>(std::strtoul(step.c_str(), nullptr, 10));
        if (index < spot.value->list.size()) next = &spot.value->list[index];
        schemas = words_.below(spot.parts, index);
        spot.path = path_of(spot.path, index);
      } else {
        next = spot.value->find(step);
        schemas = words_.below(spot.parts, step);
        spot.path = path_of(spot.path, step);
      }
      if (!next) break;
      spot.value = next;
      spot.parts = parts_of(schemas, *next);
    }
    return spot;
  }

  static bool begins_with(const Steps& steps, const Steps& begin) {
    return steps.size() > begin.size() && std::equal(begin.begin(), begin.end(), steps.begin());
  }

  void explain(const Steps& steps, const std::vector<std::string>& descriptions) {
    const Spot spot = find(steps);
    const auto faults = words_.faults(spot.parts, *spot.value);
    for (const auto& fault : faults) add(spot, fault);
    const bool deeper = std::any_of(told_.begin(), told_.end(), [&](const auto& other) {
      return begins_with(other.first, steps);
    });
    if (!faults.empty() || deeper) return;
    const auto telling =
        std::find_if(descriptions.begin(), descriptions.end(), [](const std::string& description) {
          return !description.starts_with("Failed to validate against child schema");
        });
    add(spot, {"", false,
               "does not fit the plugin's schema: " +
                   shown(telling == descriptions.end() ? descriptions[0] : *telling)});
  }

  void add(const Spot& spot, const SchemaWords::Fault& fault) {
    Place place = spot.value->place;
    if (fault.at_key)
      for (const auto& [key, item] : spot.value->map)
        if (key.string == fault.key) place = key.place;
    const std::string path = fault.key.empty() ? spot.path : path_of(spot.path, fault.key);
    named_.insert(path);
    problems_.push_back(problem_at(place, path, fault.what));
  }

  void formats(const Value& value, const std::vector<const Json*>& schemas,
               const std::string& path) {
    for (const Json* schema : schemas) {
      const std::string what = words_.format_fault(*schema, value);
      if (what.empty() || !named_.insert(path).second) continue;
      problems_.push_back(problem_at(value.place, path, what));
    }
    const auto parts = parts_of(schemas, value);
    for (const auto& [key, item] : value.map)
      formats(item, words_.below(parts, key.string), path_of(path, key.string));
    for (size_t i = 0; i < value.list.size(); i++)
      formats(value.list[i], words_.below(parts, i), path_of(path, i));
  }

  const Value& with_;
  const Json& schema_;
  SchemaWords words_;
  std::string_view path_;
  std::map<Steps, std::vector<std::string>> told_;
  std::set<std::string> named_;  // paths that have a problem
  std::vector<Problem> problems_;
};

}  // namespace

std::vector<Problem> check_against_json_schema(const Value& with, std::string_view schema_json,
                                               std::string_view path) {
  if (schema_json.find_first_not_of(" \t\r\n") == std::string_view::npos) return {};
  if (with.kind == Kind::null) {
    Value empty = Value::make_map();
    empty.place = with.place;
    return check_against_json_schema(empty, schema_json, path);
  }
  if (schema_json.find("\"pattern") != std::string_view::npos && holds_long_text(with))
    return {problem_at(with.place, path, "holds text over 4096 bytes; shorten it")};
  try {
    const Json schema = parsed_schema(schema_json);
    return SettingsCheck(with, schema, path).run();
  } catch (const std::exception& error) {
    return {problem_at(with.place, path,
                       "cannot be checked, the plugin's own JSON Schema is broken: " +
                           shown(error.what()) + "; tell the plugin's author")};
  }
}

std::string schema_fault(std::string_view schema_json) {
  try {
    valijson::Schema compiled;
    compile(parsed_schema(schema_json), compiled);
    return "";
  } catch (const std::exception& error) {
    return shown(error.what());
  }
}

}  // namespace sandglass::config
