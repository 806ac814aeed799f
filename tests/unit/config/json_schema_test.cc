#include "config/json_schema.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "config/expand.h"
#include "config/yaml.h"
#include "support.h"

namespace sandglass::config {

static constexpr const char* kWebhook = R"({
  "type": "object",
  "required": ["url"],
  "additionalProperties": false,
  "definitions": {"span": {"type": "string", "format": "duration"}},
  "properties": {
    "url": {"type": "string", "minLength": 8, "pattern": "^https?://"},
    "method": {"enum": ["POST", "PUT"]},
    "timeout": {"$ref": "#/definitions/span"},
    "max": {"type": ["string", "integer"], "format": "size"},
    "retry": {
      "anyOf": [
        {"const": "never"},
        {"type": "object", "additionalProperties": false, "required": ["wait"],
         "properties": {"wait": {"$ref": "#/definitions/span"},
                        "times": {"type": "integer", "minimum": 1, "maximum": 10}}}
      ]
    },
    "on": {"type": "boolean"},
    "ratio": {"type": "number", "exclusiveMinimum": 0},
    "headers": {"type": "object", "additionalProperties": {"type": "string"}, "maxProperties": 2},
    "codes": {"type": "array", "items": {"type": "integer"}, "minItems": 1, "uniqueItems": true}
  }
})";

static std::string check(std::string_view yaml, std::string_view schema = kWebhook) {
  auto source = Source::of(yaml, "t.yaml");
  Parsed parsed = parse_yaml(*source);
  EXPECT_EQ(texts(parsed.problems), "");
  std::vector<Problem> expansion;
  expand(parsed.root, test_environment, expansion);
  EXPECT_EQ(texts(expansion), "");
  return texts(check_against_json_schema(parsed.root, schema, "with"));
}

TEST(JsonSchema, Sound_HasNoProblems) {
  EXPECT_EQ(
      check("{url: 'https://x.example', method: PUT, timeout: 5s, max: 10 MiB, retry: never, on: "
            "true, ratio: 0.5, headers: {a: b}, codes: [1, 2]}"),
      "");
  EXPECT_EQ(check("{url: 'https://x.example', max: 4096, retry: {wait: 1s, times: 10}, ratio: 1}"),
            "");
}

TEST(JsonSchema, UnknownKeys_AreAllNamedAtTheirPlace) {  // Y1
  EXPECT_EQ(
      check("url: https://x.example\nmetod: PUT\nheaders: {}\nzzzzzz: 1\nretry:\n  wait: 1s\n  "
            "tmes: 3\n"),
      "t.yaml:2:1: with.metod: unknown key; did you mean \"method\"?\n"
      "t.yaml:4:1: with.zzzzzz: unknown key; write codes, headers, max, method, on, ratio, retry, "
      "timeout or url\n"
      "t.yaml:7:3: with.retry.tmes: unknown key; did you mean \"times\"?\n");
}

TEST(JsonSchema, Missing_IsNamed) {
  EXPECT_EQ(check("{}"), "t.yaml:1:1: with.url: is missing; write text\n");
  EXPECT_EQ(check("~"), "t.yaml:1:1: with.url: is missing; write text\n");
  EXPECT_EQ(check("url: https://x.example\nretry: {times: 1}"),
            "t.yaml:2:8: with.retry.wait: is missing; write a duration such as 10s\n");
}

TEST(JsonSchema, WrongKinds_SayWhatToWrite) {  // D5, C3
  EXPECT_EQ(check("url: 5\nmethod: GET\ntimeout: 2000\nmax: -1\nretry: always\non: yes\nratio: a\n"
                  "headers: {a: 1, b: ok}\ncodes: [1, x, 2.5]\n"),
            "t.yaml:1:6: with.url: 5 is a number; write \"5\" in quotes\n"
            "t.yaml:2:9: with.method: \"GET\" cannot stand here; write \"POST\" or \"PUT\"\n"
            "t.yaml:3:10: with.timeout: 2000 has no unit; write 2000ms or 2000s\n"
            "t.yaml:4:6: with.max: -1 is not a size; write a size such as 10 MiB\n"
            "t.yaml:5:8: with.retry: \"always\" cannot stand here; write \"never\" or a map\n"
            "t.yaml:6:5: with.on: \"yes\" is text, not a boolean; write true\n"
            "t.yaml:7:8: with.ratio: \"a\" is text; write a number\n"
            "t.yaml:8:14: with.headers.a: 1 is a number; write \"1\" in quotes\n"
            "t.yaml:9:12: with.codes[1]: \"x\" is text; write a whole number\n"
            "t.yaml:9:15: with.codes[2]: 2.5 is a number; write a whole number\n");
  EXPECT_EQ(check("5"), "t.yaml:1:1: with: 5 is a number; write a map\n");
}

TEST(JsonSchema, Limits_AreSaid) {
  EXPECT_EQ(check("url: http\nmethod: POTS\nretry: {wait: 1s, times: 11}\nratio: 0\n"
                  "headers: {a: a, b: b, c: c}\ncodes: []\n"),
            "t.yaml:1:6: with.url: \"http\" is too short or too long; write at least 8 characters\n"
            "t.yaml:2:9: with.method: \"POTS\" cannot stand here; write \"POST\" or \"PUT\"; did "
            "you mean "
            "\"POST\"?\n"
            "t.yaml:3:26: with.retry.times: 11 is out of range; write at least 1 and at most 10\n"
            "t.yaml:4:8: with.ratio: 0 is out of range; write more than 0\n"
            "t.yaml:5:10: with.headers: has 3 entries; write at most 2\n"
            "t.yaml:6:8: with.codes: has 0 items; write at least 1\n");
  EXPECT_EQ(check("url: ftp://x.example"),
            "t.yaml:1:6: with.url: \"ftp://x.example\" does not match the pattern ^https?://\n");
}

TEST(JsonSchema, Formats_DurationAndSize_AreChecked) {  // C3
  EXPECT_EQ(
      check("{url: 'https://x.example', timeout: '5', max: 10 mb, retry: {wait: soon}}"),
      "t.yaml:1:37: with.timeout: \"5\" has no unit; write a number and one of ns, us, ms, s, m, "
      "h, "
      "d, such as 700ms\n"
      "t.yaml:1:47: with.max: \"10 mb\" has an unknown unit \"mb\"; write a number of bytes, or "
      "one "
      "with kB, MB, GB, TB, KiB, MiB, GiB or TiB, such as 10 MiB\n"
      "t.yaml:1:68: with.retry.wait: \"soon\" is not a duration; write a number and one of ns, us, "
      "ms, s, m, h, d, such as 700ms\n");
  EXPECT_EQ(
      check("5s", R"({"anyOf": [{"enum": ["auto"]}, {"type": "string", "format": "duration"}]})"),
      "");
  EXPECT_EQ(
      check("auto", R"({"anyOf": [{"enum": ["auto"]}, {"type": "string", "format": "duration"}]})"),
      "");
  EXPECT_NE(check("5", R"({"type": ["string", "integer"], "format": "duration"})"), "");
  EXPECT_EQ(
      check("{format: 1}", R"({"properties": {"format": {"type": "integer", "format": "x"}}})"),
      "");
}

TEST(JsonSchema, OtherRules_FallBackToTheJudgesWords) {
  EXPECT_EQ(
      check("{url: 'https://x.example', codes: [1, 1]}"),
      "t.yaml:1:35: with.codes: does not fit the plugin's schema: Elements at indexes #0 and #1 "
      "violate uniqueness constraint.\n");
  EXPECT_NE(check("{a: 1}", R"({"if": {"required": ["a"]}, "then": {"required": ["b"]}})"), "");
}

TEST(JsonSchema, Secrets_Expanded_AreNotShown) {
  const std::string told = check(
      "url: \"${SECRET}\"\nmethod: \"${SECRET}\"\ntimeout: \"${SECRET}\"\non: \"${SECRET}\"\n");
  EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 4) << told;
  EXPECT_EQ(told.find("hunter2"), std::string::npos) << told;
}

TEST(JsonSchema, Broken_IsOneProblemThatSaysSo) {
  for (const char* schema :
       {"{", "[]", "5", R"({"type": 5})", R"({"properties": 1})", R"({"minimum": "x"})",
        R"({"$ref": "http://elsewhere.example/schema"})", R"({"$ref": "#/nowhere"})",
        R"({"properties": {"a": {"pattern": "("}}})", R"({"patternProperties": {"(": {}}})"}) {
    const std::string told = check("{a: b}", schema);
    EXPECT_NE(told.find("the plugin's own JSON Schema is broken"), std::string::npos)
        << schema << told;
    EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 1) << schema << told;
  }
}

TEST(JsonSchema, Absent_AllowsEverything) {
  EXPECT_EQ(check("{a: [1]}", ""), "");
  EXPECT_EQ(check("{a: [1]}", " \n"), "");
  EXPECT_EQ(check("{a: [1]}", "true"), "");
}

TEST(JsonSchema, LongText_WithPattern_IsRefusedNotCrashed) {
  const std::string yaml = "{a: " + std::string(200'000, 'x') + "}";
  EXPECT_NE(
      check(yaml, R"({"properties": {"a": {"pattern": "^(x|y)*$"}}})").find("over 4096 bytes"),
      std::string::npos);
  EXPECT_EQ(check(yaml, R"({"properties": {"a": {"type": "string"}}})"), "");
}

}  // namespace sandglass::config
