#include "config/json_words.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "base/text.h"
#include "config/wording.h"

namespace sandglass::config {

static constexpr int kMaxSteps = 32;     // through $ref, allOf, anyOf
static constexpr size_t kGuessable = 4;  // every shorter word is near to any other

static const Json* member(const Json& schema, const char* key) {
  if (!schema.is_object()) return nullptr;
  auto found = schema.find(key);
  return found == schema.end() ? nullptr : &*found;
}

static std::string text_of(const Json& json) {
  return json.is_string() ? "\"" + shown(json.get<std::string>()) + "\"" : shown(json.dump());
}

static std::vector<std::string> types_of(const Json& schema) {
  std::vector<std::string> out;
  const Json* type = member(schema, "type");
  if (type && type->is_string()) out.push_back(type->get<std::string>());
  if (type && type->is_array())
    for (const Json& one : *type)
      if (one.is_string()) out.push_back(one.get<std::string>());
  return out;
}

static bool type_takes(const std::string& type, const Value& value) {
  switch (value.kind) {
    case Kind::null:
      return type == "null";
    case Kind::boolean:
      return type == "boolean";
    case Kind::integer:
      return type == "integer" || type == "number";
    case Kind::number:
      return type == "number" ||
             (type == "integer" && value.to_json().find_first_of(".e") == std::string::npos);
    case Kind::string:
      return type == "string";
    case Kind::list:
      return type == "array";
    case Kind::map:
      return type == "object";
  }
  return false;
}

static bool takes_kind(const Json& schema, const Value& value) {
  const std::vector<std::string> types = types_of(schema);
  return types.empty() || std::any_of(types.begin(), types.end(),
                                      [&](const std::string& t) { return type_takes(t, value); });
}

static bool among(const Json& allowed, const Value& value) {
  const Json json = Json::parse(value.to_json(), nullptr, false);
  return std::find(allowed.begin(), allowed.end(), json) != allowed.end();
}

const Json& SchemaWords::resolved(const Json& schema) const {
  const Json* at = &schema;
  for (int step = 0; step < kMaxSteps; step++) {
    const Json* ref = member(*at, "$ref");
    if (!ref || !ref->is_string()) break;
    const std::string target = ref->get<std::string>();
    if (target.empty() || target[0] != '#') break;
    const Json::json_pointer pointer(target.substr(1));
    if (!root_.contains(pointer)) break;
    at = &root_.at(pointer);
  }
  return *at;
}

bool SchemaWords::admits(const Json& schema, const Value& value) const {
  const Json& at = resolved(schema);
  if (!takes_kind(at, value)) return false;
  if (const Json* list = member(at, "enum"); list && list->is_array()) return among(*list, value);
  if (const Json* one = member(at, "const")) return among(Json::array({*one}), value);
  return true;
}

static const Json* forms_of(const Json& schema) {
  for (const char* word : {"anyOf", "oneOf"})
    if (const Json* forms = member(schema, word); forms && forms->is_array()) return forms;
  return nullptr;
}

void SchemaWords::add_parts(const Json& schema, const Value& value, int depth,
                            std::vector<const Json*>& out) const {
  if (depth > kMaxSteps) return;
  const Json& at = resolved(schema);
  if (std::find(out.begin(), out.end(), &at) != out.end()) return;
  out.push_back(&at);
  if (const Json* all = member(at, "allOf"); all && all->is_array())
    for (const Json& one : *all) add_parts(one, value, depth + 1, out);
  const Json* forms = forms_of(at);
  if (!forms) return;
  const Json* only = nullptr;
  for (const Json& form : *forms) {
    if (!admits(form, value)) continue;
    if (only) return;
    only = &form;
  }
  if (only) add_parts(*only, value, depth + 1, out);
}

std::vector<const Json*> SchemaWords::parts(const Json& schema, const Value& value) const {
  std::vector<const Json*> out;
  add_parts(schema, value, 0, out);
  return out;
}

static bool matches(const std::string& pattern, const std::string& key) {
  return std::regex_search(key, std::regex(pattern));
}

// The schemas of one entry: its own, those of patterns, else the one for all others.
static std::vector<const Json*> entry_schemas(const Json& schema, const std::string& key) {
  std::vector<const Json*> out;
  if (const Json* own = member(schema, "properties"))
    if (const Json* one = member(*own, key.c_str())) out.push_back(one);
  if (const Json* patterns = member(schema, "patternProperties"); patterns && patterns->is_object())
    for (const auto& [pattern, one] : patterns->items())
      if (matches(pattern, key)) out.push_back(&one);
  if (const Json* others = member(schema, "additionalProperties"); others && out.empty())
    out.push_back(others);
  return out;
}

std::vector<const Json*> SchemaWords::below(const std::vector<const Json*>& parts,
                                            const std::string& key) const {
  std::vector<const Json*> out;
  for (const Json* part : parts)
    for (const Json* one : entry_schemas(*part, key)) out.push_back(one);
  return out;
}

std::vector<const Json*> SchemaWords::below(const std::vector<const Json*>& parts,
                                            size_t index) const {
  std::vector<const Json*> out;
  for (const Json* part : parts) {
    const Json* items = member(*part, "items");
    if (!items) continue;
    if (!items->is_array())
      out.push_back(items);
    else if (index < items->size())
      out.push_back(&(*items)[index]);
    else if (const Json* more = member(*part, "additionalItems"))
      out.push_back(more);
  }
  return out;
}

static std::string format_words(const Json& schema) {
  const Json* format = member(schema, "format");
  if (format && *format == "duration") return "a duration such as 10s";
  if (format && *format == "size") return "a size such as 10 MiB";
  return "";
}

// What completes "write ...".
std::string SchemaWords::form_words(const Json& schema) const {
  const Json& at = resolved(schema);
  std::vector<std::string> words;
  if (const Json* list = member(at, "enum"); list && list->is_array()) {
    for (const Json& one : *list) words.push_back(text_of(one));
  } else if (const Json* one = member(at, "const")) {
    words.push_back(text_of(*one));
  } else {
    for (const std::string& type : types_of(at)) {
      const std::string format = format_words(at);
      if (type == "string") words.push_back(format.empty() ? "text" : format);
      if (type == "boolean") words.emplace_back("true or false");
      if (type == "integer") words.emplace_back("a whole number");
      if (type == "number") words.emplace_back("a number");
      if (type == "array") words.emplace_back("a list");
      if (type == "object") words.emplace_back("a map");
      if (type == "null") words.emplace_back("null");
    }
    if (const Json* forms = forms_of(at); forms && words.empty())
      for (const Json& form : *forms)
        if (&resolved(form) != &at) words.push_back(form_words(form));
  }
  std::erase(words, "");
  return one_of(words);
}

static bool any_type(const Json& schema, std::string_view type) {
  const std::vector<std::string> types = types_of(schema);
  return std::find(types.begin(), types.end(), type) != types.end();
}

// Wrong kind, or none of the allowed values.
bool SchemaWords::form_fault(const Json& schema, const Value& value, std::string& what) const {
  const std::string words = form_words(schema);
  if (!takes_kind(schema, value)) {
    const bool duration = member(schema, "format") && *member(schema, "format") == "duration";
    what = wrong_kind(value, {any_type(schema, "boolean"), duration,
                              any_type(schema, "string") && !duration, words});
    return true;
  }
  if (admits(schema, value)) {
    const Json* forms = forms_of(schema);
    if (!forms || std::any_of(forms->begin(), forms->end(),
                              [&](const Json& form) { return admits(form, value); }))
      return false;
  }
  what = said(value) + " cannot stand here; write " + (words.empty() ? "something else" : words);
  const Json* list = member(schema, "enum");
  const bool guessable = value.kind == Kind::string && value.string.size() >= kGuessable;
  if (!list || !guessable) return true;
  std::vector<std::string> known;
  for (const Json& one : *list)
    if (one.is_string()) known.push_back(one.get<std::string>());
  const std::vector<std::string_view> names(known.begin(), known.end());
  const std::string near = nearest(value.string, names.data(), names.size());
  if (!near.empty()) what += "; did you mean \"" + shown(near) + "\"?";
  return true;
}

// "at least 1 and at most 5", from the two limits that stand in the schema.
static std::string limits(const Json& schema, const char* low, const char* high) {
  std::string out;
  const Json* least = member(schema, low);
  const Json* most = member(schema, high);
  if (least && least->is_number()) out = "at least " + least->dump();
  if (most && most->is_number()) out += (out.empty() ? "" : " and ") + ("at most " + most->dump());
  return out;
}

static bool outside(const Json& schema, const char* low, const char* high, double size) {
  const Json* least = member(schema, low);
  const Json* most = member(schema, high);
  return (least && least->is_number() && size < least->get<double>()) ||
         (most && most->is_number() && size > most->get<double>());
}

static std::string number_fault(const Json& schema, const Value& value) {
  const double number =
      value.kind == Kind::integer ? static_cast<double>(value.integer) : value.number;
  if (outside(schema, "minimum", "maximum", number))
    return said(value) + " is out of range; write " + limits(schema, "minimum", "maximum");
  const Json* above = member(schema, "exclusiveMinimum");
  if (above && above->is_number() && number <= above->get<double>())
    return said(value) + " is out of range; write more than " + above->dump();
  const Json* under = member(schema, "exclusiveMaximum");
  if (under && under->is_number() && number >= under->get<double>())
    return said(value) + " is out of range; write less than " + under->dump();
  return "";
}

static std::string text_fault(const Json& schema, const Value& value) {
  const auto length =
      static_cast<double>(std::count_if(value.string.begin(), value.string.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
      }));
  if (outside(schema, "minLength", "maxLength", length))
    return said(value) + " is too short or too long; write " +
           limits(schema, "minLength", "maxLength") + " characters";
  const Json* pattern = member(schema, "pattern");
  if (pattern && pattern->is_string() && !matches(pattern->get<std::string>(), value.string))
    return said(value) + " does not match the pattern " + shown(pattern->get<std::string>());
  return "";
}

static std::string size_fault(const Json& schema, const Value& value) {
  switch (value.kind) {
    case Kind::integer:
    case Kind::number:
      return number_fault(schema, value);
    case Kind::string:
      return text_fault(schema, value);
    case Kind::list:
      if (!outside(schema, "minItems", "maxItems", static_cast<double>(value.list.size())))
        return "";
      return "has " + std::to_string(value.list.size()) + " items; write " +
             limits(schema, "minItems", "maxItems");
    case Kind::map:
      if (!outside(schema, "minProperties", "maxProperties", static_cast<double>(value.map.size())))
        return "";
      return "has " + std::to_string(value.map.size()) + " entries; write " +
             limits(schema, "minProperties", "maxProperties");
    default:
      return "";
  }
}

void SchemaWords::key_faults(const Json& schema, const Value& value,
                             std::vector<Fault>& out) const {
  const Json* properties = member(schema, "properties");
  if (const Json* required = member(schema, "required"); required && required->is_array())
    for (const Json& name : *required) {
      if (!name.is_string() || value.find(name.get<std::string>())) continue;
      const Json* own = properties ? member(*properties, name.get<std::string>().c_str()) : nullptr;
      const std::string words = own ? form_words(*own) : "";
      out.push_back(
          {name.get<std::string>(), false, "is missing; write " + (words.empty() ? "it" : words)});
    }
  const Json* others = member(schema, "additionalProperties");
  if (!others || *others != false) return;
  std::vector<std::string> known;
  if (properties && properties->is_object())
    for (const auto& [name, one] : properties->items()) known.push_back(name);
  for (const auto& [key, item] : value.map)
    if (const auto schemas = entry_schemas(schema, key.string);
        schemas.size() == 1 && schemas[0] == others)
      out.push_back({key.string, true, "unknown key; " + known_or_near(key.string, known)});
}

std::vector<SchemaWords::Fault> SchemaWords::faults(const std::vector<const Json*>& parts,
                                                    const Value& value) const {
  std::vector<Fault> out;
  for (const Json* part : parts) {
    std::string what;
    if (!form_fault(*part, value, what)) what = size_fault(*part, value);
    if (!what.empty()) out.push_back({"", false, what});
    if (value.kind == Kind::map) key_faults(*part, value, out);
  }
  return out;
}

static std::string own_format_fault(const Json& schema, const Value& value) {
  const std::string words = format_words(schema);
  const bool duration = !words.empty() && *member(schema, "format") == "duration";
  if (words.empty()) return "";
  if (value.kind == Kind::string) {
    auto parsed = duration ? parse_duration(value.string) : parse_size(value.string);
    return parsed ? "" : wrong_unit(value, parsed.error(), words);
  }
  const bool number = value.kind == Kind::integer || value.kind == Kind::number;
  if (number && duration) return wrong_kind(value, {false, true, false, words});
  if (number && (value.kind == Kind::number || value.integer < 0))
    return said(value) + " is not a size; write " + words;
  return "";
}

std::string SchemaWords::format_fault(const Json& schema, const Value& value, int depth) const {
  if (depth > kMaxSteps) return "";
  const Json& at = resolved(schema);
  std::string what = own_format_fault(at, value);
  if (const Json* all = member(at, "allOf"); all && all->is_array())
    for (const Json& one : *all)
      if (what.empty()) what = format_fault(one, value, depth + 1);
  const Json* forms = forms_of(at);
  if (!forms || !what.empty()) return what;
  for (const Json& form : *forms) {  // one that takes the value is enough
    if (!admits(form, value)) continue;
    std::string fault = format_fault(form, value, depth + 1);
    if (fault.empty()) return "";
    if (what.empty()) what = fault;
  }
  return what;
}

std::string SchemaWords::format_fault(const Json& schema, const Value& value) const {
  return format_fault(schema, value, 0);
}

}  // namespace sandglass::config
