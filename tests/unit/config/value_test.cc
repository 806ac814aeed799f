#include "config/value.h"

#include <gtest/gtest.h>

#include <limits>

namespace sandglass::config {

TEST(Value, ToJson_AnyOrder_IsCanonical) {
  Value map = Value::make_map();
  map.set("b", Value::of(int64_t{-2}));
  map.set("a", Value::of("x\n"));
  Value list = Value::make_list();
  list.list = {Value::of(true), Value()};
  map.set("c", std::move(list));
  map.set("b", Value::of(false));  // replaces
  EXPECT_EQ(map.to_json(), R"({"a":"x\n","b":false,"c":[true,null]})");
}

TEST(Value, ToJson_Numbers_AreShortest) {
  Value number;
  number.kind = Kind::number;
  number.number = 0.1;
  EXPECT_EQ(number.to_json(), "0.1");
  number.number = std::numeric_limits<double>::infinity();
  EXPECT_EQ(number.to_json(), "null");
}

TEST(Value, AtPointer_ListsMapsAndEscapes_AreFollowed) {
  Value map = Value::make_map();
  Value list = Value::make_list();
  list.list = {Value::of("zero"), Value::of("one")};
  map.set("a/b~c", std::move(list));
  map.set("", Value::of("empty"));
  EXPECT_EQ(map.at_pointer(""), &map);
  ASSERT_TRUE(map.at_pointer("/a~1b~0c/1"));
  EXPECT_EQ(map.at_pointer("/a~1b~0c/1")->string, "one");
  EXPECT_EQ(map.at_pointer("/")->string, "empty");
  for (const char* none : {"a", "/a~1b~0c/2", "/a~1b~0c/01", "/a~1b~0c/-", "/a~1b~0c/", "/x/y",
                           "/a~1b~0c/1/x", "/a~1b~0c/18446744073709551617"})
    EXPECT_EQ(map.at_pointer(none), nullptr) << none;
}

TEST(Units, Duration_WithUnit_IsNanoseconds) {  // C3
  EXPECT_EQ(parse_duration("700ms"), 700'000'000);
  EXPECT_EQ(parse_duration("10 s"), 10'000'000'000);
  EXPECT_EQ(parse_duration("1.5h"), int64_t{5400} * 1'000'000'000);
  EXPECT_EQ(parse_duration("30d"), int64_t{30} * 86400 * 1'000'000'000);
  EXPECT_EQ(parse_duration("0s"), 0);
  EXPECT_EQ(parse_duration("9223372036854775807ns"), std::numeric_limits<int64_t>::max());
}

TEST(Units, Duration_BareOrOdd_IsRefused) {  // C3
  for (const char* text :
       {"2000", "", "s", "-1s", "+1s", "1 hour", "1S", "1h30m", "1,5s", "1.s",
        "9223372036854775808ns", "99999999999d", "0.0000000001s", "1e3s", "1.1ns", " 1s", "1  s"}) {
    auto parsed = parse_duration(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().fault, Fault::invalid);
    EXPECT_NE(parsed.error().text.find('"'), std::string::npos);
  }
  EXPECT_EQ(parse_duration("5").error().text,
            "\"5\" has no unit; write a number and one of ns, us, ms, s, m, h, d, such as 700ms");
}

TEST(Units, Size_DecimalAndBinary_AreToldApart) {
  EXPECT_EQ(parse_size("10 MB"), 10'000'000);
  EXPECT_EQ(parse_size("10MiB"), 10 << 20);
  EXPECT_EQ(parse_size("1.5 KiB"), 1536);
  EXPECT_EQ(parse_size("4096"), 4096);
  for (const char* text : {"10M", "10 mb", "1.5", "", "-1", "8388608 TiB", "MB"})
    EXPECT_FALSE(parse_size(text)) << text;
}

}  // namespace sandglass::config
