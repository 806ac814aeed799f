// The table of keys as JSON Schema.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "config/embed_schema.h"
#include "config/json_schema.h"
#include "config/schema.h"

namespace sandglass::config {
namespace {

// A ${NAME} may stand for any scalar; an editor must not call it wrong.
constexpr std::string_view kVariable = "\\$\\{";
constexpr std::string_view kDuration = "^[0-9]+(\\.[0-9]{1,9})? ?(ns|us|ms|s|m|h|d)$";

std::string_view word_of(Slot slot) {
  switch (slot) {
    case Slot::provider:
      return "provider";
    case Slot::watcher:
      return "watcher";
    case Slot::hook:
      return "hook";
    case Slot::none:
      break;
  }
  return "";
}

// Names of definitions. A type's name may hold dots, those of ours hold none.
std::string names_of(Slot slot) {
  return std::string(word_of(slot)) + "Names";
}
std::string bare_names_of(Slot slot) {
  return std::string(word_of(slot)) + "NamesWithoutSettings";
}
std::string settings_of(Slot slot) {
  return std::string(word_of(slot)) + "Settings";
}
std::string definition_of(const UsableType& type) {
  return std::string(word_of(type.slot)) + "." + type.name;
}

class Printer {
 public:
  explicit Printer(const std::vector<UsableType>& types) : types_(types) {}

  std::string print(const Rule& file) {
    out_.open('{').key("$schema").value("http://json-schema.org/draft-07/schema#");
    out_.key("title").value("sandglass configuration");
    rule(file);
    if (!types_.empty()) definitions();
    out_.close('}');
    return nlohmann::ordered_json::parse(out_.text()).dump(2);
  }

 private:
  void rule(const Rule& rule) {
    const Slot slot = has(rule.slot) ? rule.slot : Slot::none;
    if (rule.shapes.size() == 1) return shape(rule.shapes[0], slot);
    out_.key("anyOf").open('[');
    for (const Shape& one : rule.shapes) {
      out_.open('{');
      shape(one, slot);
      out_.close('}');
    }
    out_.close(']');
  }

  void shape(const Shape& shape, Slot slot) {
    switch (shape.form) {
      case Form::flag:
        out_.key("type").open('[').value("boolean").value("string").close(']');
        out_.key("pattern").value(kVariable);
        if (shape.low == 1) out_.key("not").open('{').key("const").value(false).close('}');
        return;
      case Form::whole:
        out_.key("type").value("integer");
        out_.key("minimum").value(shape.low).key("maximum").value(shape.high);
        return;
      case Form::text:
        return slot == Slot::none ? text(shape.pattern) : refer(bare_names_of(slot));
      case Form::duration:
        return text(kDuration);
      case Form::list:
        out_.key("type").value("array").key("items").open('{');
        rule(*shape.each);
        out_.close('}');
        return;
      case Form::table:
        out_.key("type").value("object").key("additionalProperties").value(false);
        out_.key("patternProperties").open('{').key(shape.pattern).open('{');
        rule(*shape.each);
        out_.close('}').close('}');
        return;
      case Form::map:
        return map(shape, slot);
      case Form::anything:
        out_.key("type").value("object");
        return;
    }
  }

  void text(std::string_view pattern) {
    out_.key("type").value("string");
    if (!pattern.empty())
      out_.key("pattern").value(std::string(pattern) + "|" + std::string(kVariable));
  }

  void map(const Shape& shape, Slot slot) {
    out_.key("type").value("object").key("additionalProperties").value(false);
    out_.key("properties").open('{');
    for (const Key& key : shape.keys) {
      out_.key(key.name).open('{').key("description").value(key.doc);
      if (!key.fallback.empty()) out_.key("default").raw(key.fallback);
      if (slot != Slot::none && key.name == "use")
        both(names_of(slot));
      else
        rule(*key.rule);
      out_.close('}');
    }
    out_.close('}').key("required").open('[');
    for (const Key& key : shape.keys)
      if (key.required) out_.value(key.name);
    out_.close(']');
    if (slot != Slot::none) both(settings_of(slot));
  }

  // Draft 7 ignores what stands beside a $ref.
  void both(const std::string& definition) {
    out_.key("allOf").open('[').open('{');
    refer(definition);
    out_.close('}').close(']');
  }
  void refer(const std::string& definition) {
    out_.key("$ref").value("#/definitions/" + definition);
  }

  bool has(Slot slot) const {
    return std::any_of(types_.begin(), types_.end(),
                       [&](const UsableType& type) { return type.slot == slot; });
  }

  static bool needs_settings(const UsableType& type) {
    return !type.schema.empty() && schema_fault(type.schema).empty() &&
           !check_against_json_schema(Value::make_map(), type.schema, "").empty();
  }

  void definitions() {
    out_.key("definitions").open('{');
    for (const Slot slot : {Slot::provider, Slot::watcher, Slot::hook}) {
      if (!has(slot)) continue;
      names(slot, names_of(slot), true);
      names(slot, bare_names_of(slot), false);
      settings(slot);
    }
    for (const UsableType& type : types_) {
      if (type.schema.empty()) continue;
      const std::string name = definition_of(type);
      out_.key(name).raw(embedded_schema(type.schema, "#/definitions/" + name));
    }
    out_.close('}');
  }

  void names(Slot slot, const std::string& definition, bool all) {
    out_.key(definition).open('{').key("anyOf").open('[');
    for (const UsableType& type : types_)
      if (type.slot == slot && (all || !needs_settings(type)))
        out_.open('{')
            .key("const")
            .value(type.name)
            .key("description")
            .value(type.summary)
            .close('}');
    out_.open('{').key("type").value("string").key("pattern").value(kVariable).close('}');
    out_.close(']').close('}');
  }

  void settings(Slot slot) {
    out_.key(settings_of(slot)).open('{').key("allOf").open('[');
    out_.open('{').close('}');  // the list may not be empty
    for (const UsableType& type : types_) {
      if (type.slot != slot || type.schema.empty()) continue;
      out_.open('{').key("if").open('{').key("properties").open('{').key("use").open('{');
      out_.key("const").value(type.name).close('}').close('}');
      out_.key("required").open('[').value("use").close(']').close('}');
      out_.key("then").open('{').key("properties").open('{').key("with").open('{');
      refer(definition_of(type));
      out_.close('}').close('}');
      if (needs_settings(type)) out_.key("required").open('[').value("with").close(']');
      out_.close('}').close('}');
    }
    out_.close(']').close('}');
  }

  const std::vector<UsableType>& types_;
  JsonWriter out_;
};

}  // namespace

std::string json_schema(const std::vector<UsableType>& types) {
  return Printer(types).print(configuration_rule());
}

}  // namespace sandglass::config
