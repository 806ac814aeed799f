// The table of keys as JSON Schema.
#include "base/json.h"
#include "config/schema.h"

namespace sandglass::config {

// A ${NAME} may stand for any scalar; an editor must not call it wrong.
static constexpr std::string_view kVariable = "\\$\\{";
static constexpr std::string_view kDuration = "^[0-9]+(\\.[0-9]{1,9})? ?(ns|us|ms|s|m|h|d)$";

static void print_rule(JsonWriter& out, const Rule& rule);

static void print_text(JsonWriter& out, std::string_view pattern) {
  out.key("type").value("string");
  if (!pattern.empty())
    out.key("pattern").value(std::string(pattern) + "|" + std::string(kVariable));
}

static void print_map(JsonWriter& out, const Shape& shape) {
  out.key("type").value("object").key("additionalProperties").value(false);
  out.key("properties").open('{');
  for (const Key& key : shape.keys) {
    out.key(key.name).open('{').key("description").value(key.doc);
    if (!key.fallback.empty()) out.key("default").raw(key.fallback);
    print_rule(out, *key.rule);
    out.close('}');
  }
  out.close('}').key("required").open('[');
  for (const Key& key : shape.keys)
    if (key.required) out.value(key.name);
  out.close(']');
}

static void print_shape(JsonWriter& out, const Shape& shape) {
  switch (shape.form) {
    case Form::flag:
      out.key("type").open('[').value("boolean").value("string").close(']');
      out.key("pattern").value(kVariable);
      if (shape.low == 1) out.key("not").open('{').key("const").value(false).close('}');
      return;
    case Form::whole:
      out.key("type").value("integer");
      out.key("minimum").value(shape.low).key("maximum").value(shape.high);
      return;
    case Form::text:
      return print_text(out, shape.pattern);
    case Form::duration:
      return print_text(out, kDuration);
    case Form::list:
      out.key("type").value("array").key("items").open('{');
      print_rule(out, *shape.each);
      out.close('}');
      return;
    case Form::table:
      out.key("type").value("object").key("additionalProperties").value(false);
      out.key("patternProperties").open('{').key(shape.pattern).open('{');
      print_rule(out, *shape.each);
      out.close('}').close('}');
      return;
    case Form::map:
      return print_map(out, shape);
    case Form::anything:
      out.key("type").value("object");
      return;
  }
}

static void print_rule(JsonWriter& out, const Rule& rule) {
  if (rule.shapes.size() == 1) return print_shape(out, rule.shapes[0]);
  out.key("anyOf").open('[');
  for (const Shape& shape : rule.shapes) {
    out.open('{');
    print_shape(out, shape);
    out.close('}');
  }
  out.close(']');
}

std::string json_schema() {
  JsonWriter out;
  out.open('{').key("$schema").value("http://json-schema.org/draft-07/schema#");
  out.key("title").value("sandglass configuration");
  print_rule(out, configuration_rule());
  out.close('}');
  return out.take();
}

}  // namespace sandglass::config
