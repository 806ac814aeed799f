#include "config/yaml.h"

#include <gtest/gtest.h>

#include "support.h"

namespace sandglass::config {

static Parsed parse(std::string_view text) {
  auto source = Source::of(text, "t.yaml");
  EXPECT_TRUE(source) << source.error().text;
  return parse_yaml(*source);
}

// The value of a sound text as JSON, or its problems.
static std::string json(std::string_view text) {
  Parsed parsed = parse(text);
  return parsed.problems.empty() ? parsed.root.to_json() : texts(parsed.problems);
}

static std::string source_fault(std::string_view bytes) {
  auto source = Source::of(bytes, "t.yaml");
  return source ? "fine" : source.error().text;
}

TEST(Yaml, Scalars_Plain_FollowTheCoreRules) {  // D5
  EXPECT_EQ(json("[true, False, 12, -0x1f, 0o17, +5, 1.5, 1e3, ~, null, '']"),
            "[true,false,12,\"-0x1f\",15,5,1.5,1000,null,null,\"\"]");
  EXPECT_EQ(
      json("[yes, No, on, 010, 12:30:45, 1_000, .inf, .nan, 0x, 1., -, '5', \"true\"]"),
      "[\"yes\",\"No\",\"on\",\"010\",\"12:30:45\",\"1_000\",\".inf\",\".nan\",\"0x\",1,\"-\","
      "\"5\",\"true\"]");
  EXPECT_EQ(json("[9223372036854775807, 9223372036854775808, 1e999]"),
            "[9223372036854775807,9223372036854775808,\"1e999\"]");
}

TEST(Yaml, Scalars_AsWritten_AreKept) {  // D5: `env:` takes them as they stand
  Parsed parsed = parse("[1.10, 0x1F, TRUE]");
  EXPECT_EQ(parsed.root.list[0].string, "1.10");
  EXPECT_EQ(parsed.root.list[1].string, "0x1F");
  EXPECT_EQ(parsed.root.list[2].string, "TRUE");
}

TEST(Yaml, Tags_Core_Decide) {
  EXPECT_EQ(
      json("[!!str 5, !!int '5', !!float 1, !!null '', !!bool 'true', !!str, !!map {}, !!seq []]"),
      "[\"5\",5,1,null,true,\"\",{},[]]");
}

TEST(Yaml, Places_Characters_CountFromOne) {
  Parsed parsed = parse(
      "\xef\xbb\xbf"
      "a: 1\r\n\"\xc3\xa9\xc3\xa9\": [x, \"\xf0\x9f\x98\x80\", y]\r\n");
  const Value* list = parsed.root.find("\xc3\xa9\xc3\xa9");
  ASSERT_TRUE(list);
  EXPECT_EQ(parsed.root.map[0].second.place.text(), "t.yaml:1:4");
  EXPECT_EQ(list->place.text(), "t.yaml:2:7");
  EXPECT_EQ(list->list[1].place.text(), "t.yaml:2:11");
  EXPECT_EQ(list->list[2].place.text(), "t.yaml:2:16");
}

TEST(Yaml, Alias_Copies_NameTheTextTheyCopy) {  // Y5
  Parsed parsed = parse("a: &x\n  k: v\nb: *x\n");
  ASSERT_TRUE(parsed.problems.empty());
  const Value* copy = parsed.root.find("b");
  EXPECT_EQ(copy->place.line, 3);  // where it is used
  EXPECT_EQ(copy->find("k")->place.line, 2);
  EXPECT_EQ(parsed.root.to_json(), R"({"a":{"k":"v"},"b":{"k":"v"}})");
  EXPECT_EQ(json("[&k key, {*k : 1}]"), R"(["key",{"key":1}])");
  EXPECT_EQ(json("[&a 1, &a 2, *a]"), "[1,2,2]");
}

TEST(Yaml, Merge_ExplicitKeys_Win) {  // Y5
  EXPECT_EQ(json("a: &a {x: 1, y: 2}\nb: {y: 9, <<: *a}\nc: {<<: *a, y: 9}\n"),
            R"({"a":{"x":1,"y":2},"b":{"x":1,"y":9},"c":{"x":1,"y":9}})");
}

TEST(Yaml, Merge_ListOfMaps_EarlierWins) {  // Y5
  EXPECT_EQ(json("- &a {x: 1}\n- &b {x: 2, y: 2}\n- {<<: [*a, *b], z: 3}\n"),
            R"([{"x":1},{"x":2,"y":2},{"x":1,"y":2,"z":3}])");
  EXPECT_EQ(json("- &a {x: 1}\n- &b {<<: *a, y: 2}\n- {<<: *b}\n"),
            R"([{"x":1},{"x":1,"y":2},{"x":1,"y":2}])");
  EXPECT_EQ(json("{<<: [], a: 1}"), R"({"a":1})");
}

TEST(Yaml, Merge_Quoted_IsAKey) {
  EXPECT_EQ(json("{'<<': {a: 1}}"), R"({"<<":{"a":1}})");
}

TEST(Yaml, Blocks_TabsInside_AreContent) {  // Y4: only indentation is refused
  EXPECT_EQ(json("a: |\n  \tx\n  y\tz\nb: \"p\n\tq\"\n"), R"({"a":"\tx\ny\tz\n","b":"p q"})");
  EXPECT_EQ(json("\t# a comment\n\t\na: 1\n"), R"({"a":1})");
}

TEST(Yaml, Documents_OneMarker_IsFine) {  // Y4
  EXPECT_EQ(json("%YAML 1.2\n---\na: 1\n...\n"), R"({"a":1})");
  EXPECT_FALSE(parse("a: 1\n---\n").complete);
  EXPECT_FALSE(parse("a: 1\n...\nb: 2\n").complete);
}

TEST(Yaml, Depth_At64_IsTheLimit) {  // Y4
  const std::string open(64, '['), close(64, ']');
  EXPECT_TRUE(parse(open + close).problems.empty());
  EXPECT_FALSE(parse("[" + open + close + "]").complete);
  Parsed parsed = parse(std::string(100'000, '['));
  EXPECT_NE(texts(parsed.problems).find("nested deeper than 64 levels"), std::string::npos);
  const std::string half(32, '['), end(32, ']');
  EXPECT_TRUE(parse("[&a " + half + end + "]").complete);
  EXPECT_FALSE(parse("[&a " + half + end + ", " + half + "*a" + end + "]").complete);
}

TEST(Yaml, Nodes_At100000_IsTheLimit) {  // Y4
  auto list_of = [](size_t count) {
    std::string text = "[";
    for (size_t i = 0; i < count; i++) text += "x,";
    return text + "]";
  };
  EXPECT_TRUE(parse(list_of(99'999)).complete);
  EXPECT_FALSE(parse(list_of(100'000)).complete);
}

TEST(Yaml, Time_OneLongLine_IsNotQuadratic) {
  std::string text = "[\xc3\xa9";
  while (text.size() < kMaxFileBytes - 32) text += ", \"\xc3\xa9 quoted text of some length\"";
  EXPECT_TRUE(parse(text + "]").complete);
  std::string map = "{";
  for (int i = 0; i < 49'000; i++) map += "k" + std::to_string(i) + ": v,";
  EXPECT_TRUE(parse(map + "}").problems.empty());
}

TEST(Source, Bytes_NoText_AreNamed) {  // D5, Y4
  EXPECT_EQ(source_fault("a: 1\nb\xff: 2\n"),
            "t.yaml:2:2: the byte \\xff is not UTF-8; save the file as UTF-8");
  EXPECT_EQ(source_fault(std::string_view("a: \0", 4)),
            "t.yaml:1:4: a NUL byte; save the file as UTF-8 text (UTF-16 looks like this)");
  EXPECT_EQ(source_fault("a: 1\rb: 2\r"),
            "t.yaml:1:5: a carriage return that ends a line alone; end lines with LF, or CR LF");
  EXPECT_EQ(source_fault(std::string_view("\xff\xfe"
                                          "a\0",
                                          4)),
            "t.yaml:1:1: the file is UTF-16 or UTF-32; save it as UTF-8");
  EXPECT_EQ(source_fault(std::string_view("\0a", 2)),
            "t.yaml:1:1: a NUL byte; save the file as UTF-8 text (UTF-16 looks like this)");
  EXPECT_EQ(
      source_fault("a: \x1b[31m"),
      "t.yaml:1:4: the control character \\x1b; remove it, or write it as an escape in double "
      "quotes");
  EXPECT_EQ(source_fault("\xef\xbb\xbf"
                         "a: 1\r\n"),
            "fine");
  EXPECT_EQ(source_fault("\r"), source_fault("\r\r\n"));
}

TEST(Source, Excerpt_LongOrOddLine_StaysReadable) {
  auto source = Source::of("\xc3\xa9: \xe2\x80\xae@" + std::string(500, 'x') + "\n", "t");
  EXPECT_EQ(source->excerpt(source->place_of(7)),
            "  1 | \xc3\xa9: \\u202e@" + std::string(99, 'x') + "...\n    |          ^");
}

}  // namespace sandglass::config
