// The JSON Schema that `sandglass schema` prints: what an editor says with it about a file.
#include "config/schema.h"

#include <gmock/gmock.h>

#include <string>

#include "api/operations.h"
#include "config/json_schema.h"
#include "config/yaml.h"
#include "support/temp_dir.h"

namespace sandglass::api {
namespace {

using ::testing::HasSubstr;
using testing::TempDir;

std::string read_file(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string schema_with(const std::string& config = "") {
  auto made = schema(config);
  EXPECT_TRUE(made) << made.error().text;
  return made.value_or("");
}

const std::string& shipped_schema() {
  static const std::string made = schema_with();
  return made;
}

// What an editor would underline, one a line; "" when nothing.
std::string faults(const std::string& yaml, const std::string& by = shipped_schema()) {
  auto source = config::Source::of(yaml, "t.yaml");
  const config::Parsed parsed = config::parse_yaml(*source);
  EXPECT_TRUE(parsed.problems.empty()) << yaml;
  std::string out;
  for (const auto& problem : config::check_against_json_schema(parsed.root, by, "file"))
    out += problem.text + "\n";
  EXPECT_EQ(out.find("broken"), std::string::npos) << out;
  return out;
}

std::string sandbox(const std::string& body) {
  return "version: 1\nsandboxes: {t: {" + body + "}}\n";
}

TEST(Schema, Printed_IsItselfAValidDraft7Schema) {
  const std::string meta =
      read_file(SANDGLASS_SOURCE_DIR "/tests/golden/json-schema-draft-07.json");
  EXPECT_EQ(faults(shipped_schema(), meta), "");
  EXPECT_NE(faults("{type: 7}", meta), "");  // it does check
}

TEST(Schema, Example_IsAccepted) {
  EXPECT_EQ(faults(read_file(SANDGLASS_SOURCE_DIR "/configs/sandglass.yaml")), "");
}

TEST(Schema, FileBesideTheExample_IsWhatIsPrinted) {
  EXPECT_EQ(read_file(SANDGLASS_SOURCE_DIR "/configs/sandglass.schema.json"),
            shipped_schema() + "\n")
      << "run: sandglass schema > configs/sandglass.schema.json";
}

TEST(Schema, SoundUses_AreAccepted) {
  for (const char* body :
       {"provider: local", "provider: {use: local, with: {}}", "provider: '${PROVIDER}'",
        "fileEvents: {watcher: auto}", "fileEvents: {watcher: inotify}", "hooks: {onFile: log}",
        "hooks: {onFile: {use: log, with: {diff: true, level: debug}, name: a, timeout: 5s}}",
        "hooks: {onFile: [log, {use: command, with: {run: [prog, arg], include: [diff]}}]}",
        "hooks: {onReady: {use: log, with: {level: '${LEVEL}', diff: '${DIFF}'}}}",
        "hooks: {onFile: {use: command, with: {run: ['${PROGRAM}']}}}"})
    EXPECT_EQ(faults(sandbox(body)), "") << body;
}

struct Wrong {
  const char* name;
  const char* body;
};
std::ostream& operator<<(std::ostream& out, const Wrong& wrong) {
  return out << wrong.name;
}
class SchemaRefuses : public ::testing::TestWithParam<Wrong> {};

TEST_P(SchemaRefuses, WrongBody) {
  EXPECT_NE(faults(sandbox(GetParam().body)), "") << GetParam().body;
}
INSTANTIATE_TEST_SUITE_P(
    Bodies, SchemaRefuses,
    ::testing::Values(
        Wrong{"UnknownKey", "provder: local"}, Wrong{"UnknownProvider", "provider: locl"},
        Wrong{"UnknownProviderByUse", "provider: {use: locl}"},
        Wrong{"UnknownWatcher", "fileEvents: {watcher: inotfy}"},
        Wrong{"UnknownHook", "hooks: {onFile: lgo}"},
        Wrong{"UnknownHookInAList", "hooks: {onFile: [log, {use: lgo}]}"},
        Wrong{"HookAsAProvider", "provider: log"},
        Wrong{"CommandRunIsANumber", "hooks: {onFile: {use: command, with: {run: 3}}}"},
        Wrong{"CommandRunIsEmpty", "hooks: {onFile: {use: command, with: {run: []}}}"},
        Wrong{"CommandWithoutRun", "hooks: {onFile: {use: command, with: {}}}"},
        Wrong{"CommandWithoutWith", "hooks: {onFile: {use: command}}"},
        Wrong{"CommandByNameAlone", "hooks: {onFile: [command]}"},
        Wrong{"CommandUnknownOption",
              "hooks: {onFile: {use: command, with: {run: [a], shell: true}}}"},
        Wrong{"LogUnknownOption", "hooks: {onFile: {use: log, with: {dif: true}}}"},
        Wrong{"LogUnknownLevel", "hooks: {onFile: [{use: log, with: {level: loud}}]}"},
        Wrong{"LogFlagIsText", "hooks: {onDestroy: {use: log, with: {diff: maybe}}}"},
        Wrong{"ProviderOption", "provider: {use: local, with: {image: x}}"}),
    [](const auto& one) { return std::string(one.param.name); });

TEST(Schema, PluginsOfAConfiguration_AreIncluded) {
  const TempDir dir;
  dir.write("c.yaml", std::string("version: 1\nplugins: [{file: ") + SANDGLASS_BAD_PLUGIN_DIR +
                          "/trial.so}]\n");
  const std::string with_it = schema_with(dir / "c.yaml");
  EXPECT_THAT(with_it, HasSubstr("\"hook.trial\""));
  EXPECT_EQ(faults(sandbox("hooks: {onFile: {use: trial}}"), with_it), "");
  EXPECT_NE(faults(sandbox("hooks: {onFile: {use: trial}}")), "");
}

TEST(Schema, ConfigurationThatCannotBeRead_IsSaid) {
  const auto made = schema("/nonexistent/c.yaml");
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().text, HasSubstr("/nonexistent/c.yaml"));
}

// ---- any plugin's schema, put into the whole ----

std::string whole(const std::string& schema, const std::string& name = "x") {
  const std::string made = config::json_schema(
      {{config::Slot::hook, name, "a hook", schema}, {config::Slot::hook, "names", "", ""}});
  EXPECT_EQ(config::schema_fault(made), "");
  return made;
}

std::string settings(const std::string& with, const std::string& name = "x") {
  return sandbox("hooks: {onFile: {use: " + name + ", with: " + with + "}}");
}

TEST(SchemaOfAPlugin, ItsOwnReferences_StillPointInside) {
  for (const char* root : {"", R"("$id": "https://plugin.example/s.json",)",
                           R"("$schema": "http://json-schema.org/draft-07/schema#",)"}) {
    const std::string by = whole(std::string("{") + root + R"(
      "type": "object", "properties": {"a": {"$ref": "#/definitions/n"}, "again": {"$ref": "#"}},
      "additionalProperties": false, "definitions": {"n": {"type": "integer"}}})");
    EXPECT_EQ(faults(settings("{a: 1, again: {again: {a: 2}}}"), by), "") << root;
    EXPECT_NE(faults(settings("{a: x}"), by), "") << root;
    EXPECT_NE(faults(settings("{again: {again: {a: x}}}"), by), "") << root;
    EXPECT_NE(faults(settings("{again: {b: 1}}"), by), "") << root;
  }
}

TEST(SchemaOfAPlugin, PropertyNamedLikeAKeyword_IsData) {
  const std::string by = whole(R"({"type": "object", "additionalProperties": false,
    "properties": {"$ref": {"type": "integer"}, "$id": {"enum": [{"$ref": "#/data"}, 1]}}})");
  EXPECT_EQ(faults(settings("{$ref: 1, $id: 1}"), by), "");
  EXPECT_NE(faults(settings("{$ref: x}"), by), "");
}

TEST(SchemaOfAPlugin, NamedLikeADefinition_DoesNotCollide) {
  for (const char* name : {"Names", "NamesWithoutSettings", "Settings", "a.b-c_D", "hook.x"}) {
    const std::string by =
        whole(R"({"type": "object", "properties": {"a": {"type": "integer"}}})", name);
    EXPECT_EQ(faults(settings("{a: 1}", name), by), "") << name;
    EXPECT_NE(faults(settings("{a: x}", name), by), "") << name;
  }
}

TEST(SchemaOfAPlugin, Broken_TakesEverythingAndSaysWhy) {
  for (const char* schema :
       {"{", "7", R"({"$ref": "https://elsewhere.example/s.json"})",
        R"({"$ref": "#/definitions/missing"})", R"({"properties": {"a": {"type": "numbr"}}})"}) {
    const std::string by = whole(schema);
    EXPECT_THAT(by, HasSubstr("the plugin's own schema cannot be used")) << schema;
    EXPECT_EQ(faults(settings("{anything: [1]}"), by), "") << schema;
  }
}

TEST(SchemaOfAPlugin, FalseOrTrue_IsKept) {
  EXPECT_NE(faults(settings("{}"), whole("false")), "");
  EXPECT_EQ(faults(settings("{a: 1}"), whole("true")), "");
}

TEST(SchemaOfAPlugin, VariableInPlaceOfAScalar_IsAccepted) {
  const std::string by = whole(R"({"type": "object", "additionalProperties": false,
    "properties": {"n": {"type": "integer", "description": "d"}, "e": {"enum": ["a", "b"]},
                   "l": {"type": "array", "items": {"type": "boolean"}},
                   "not": {"not": {"properties": {"n": {"type": "integer"}}, "required": ["n"]}},
                   "o": {"type": "object"}}})");
  EXPECT_EQ(faults(settings("{n: '${N}', e: '${E}', l: [true, '${B}']}"), by), "");
  EXPECT_NE(faults(settings("{n: text}"), by), "");
  EXPECT_NE(faults(settings("{o: '${O}'}"), by), "");  // a variable never makes structure
  EXPECT_NE(faults(settings("{not: {n: 1}}"), by), "");
  EXPECT_EQ(faults(settings("{not: {n: '${N}'}}"), by), "");
}

}  // namespace
}  // namespace sandglass::api
