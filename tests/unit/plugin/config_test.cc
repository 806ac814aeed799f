// The configuration getters, as a plugin calls them.
#include <gmock/gmock.h>

#include "instances.h"
#include "plugin/host.h"

namespace sandglass::plugin {
namespace {

using config::Value;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Value number(double n) {
  Value value;
  value.kind = config::Kind::number;
  value.number = n;
  return value;
}

Value list(std::vector<Value> items) {
  Value value;
  value.kind = config::Kind::list;
  value.list = std::move(items);
  return value;
}

Value sample() {
  Value retry = Value::make_map();
  retry.set("max", placed(Value::of(int64_t{3}), 4));
  retry.set("a/b", Value::of(std::string("slash")));
  Value out = Value::make_map();
  out.set("url", placed(Value::of(std::string("https://x/\xc3\xa4")), 2));
  out.set("retry", placed(std::move(retry), 3));
  out.set("on", Value::of(true));
  out.set("ratio", number(0.25));
  out.set("whole", number(4.0));
  out.set("none", Value{});
  out.set("limit", placed(Value::of(std::string("700ms")), 5));
  out.set("room", Value::of(std::string("10 MB")));
  out.set("bytes", Value::of(int64_t{12}));
  out.set("list", list({Value::of(std::string("one")), Value::of(std::string("two"))}));
  return out;
}

struct ConfigTest : ::testing::Test {
  Host host{"named", "kind", sample(), {}};
  const sg_config* config = host.config();

  std::string text(const char* pointer, const std::string& fallback = "-") {
    const sg_str out = host.config_str(&host, config, pointer, text_of(fallback));
    return {out.data, out.len};
  }
  int64_t integer(const char* p) { return host.config_int(&host, config, p, -1); }
  int64_t duration(const char* p) { return host.config_duration_ns(&host, config, p, -1); }
  int64_t size(const char* p) { return host.config_size(&host, config, p, -1); }
  uint32_t flag(const char* p, uint32_t fallback) {
    return host.config_bool(&host, config, p, fallback);
  }
};

TEST_F(ConfigTest, Values_Got_ByPointer) {
  EXPECT_EQ(text("/url"), "https://x/\xc3\xa4");
  EXPECT_EQ(text("/retry/a~1b"), "slash");
  EXPECT_EQ(text("/list/1"), "two");
  EXPECT_EQ(integer("/retry/max"), 3);
  EXPECT_EQ(integer("/whole"), 4);
  EXPECT_EQ(flag("/on", 0), 1u);
  EXPECT_DOUBLE_EQ(host.config_num(&host, config, "/ratio", 0), 0.25);
  EXPECT_DOUBLE_EQ(host.config_num(&host, config, "/bytes", 0), 12);
  EXPECT_EQ(duration("/limit"), 700'000'000);
  EXPECT_EQ(size("/room"), 10'000'000);
  EXPECT_EQ(size("/bytes"), 12);
  EXPECT_EQ(host.take_complaint(), "");
}

TEST_F(ConfigTest, MissingOrNull_Got_GivesTheFallback) {
  EXPECT_EQ(text("/nowhere"), "-");
  EXPECT_EQ(text("/none"), "-");
  EXPECT_EQ(integer("/retry/none"), -1);
  EXPECT_EQ(flag("/none", 1), 1u);
  EXPECT_EQ(duration("/none"), -1);
  EXPECT_EQ(size("no pointer"), -1);
  EXPECT_EQ(host.take_complaint(), "");
}

TEST_F(ConfigTest, Kinds_Asked_AreTold) {
  const auto kind = [&](const char* p) { return host.config_kind(&host, config, p); };
  EXPECT_EQ(kind("/nowhere"), uint32_t{SG_CONFIG_MISSING});
  EXPECT_EQ(kind("/none"), uint32_t{SG_CONFIG_NULL});
  EXPECT_EQ(kind("/on"), uint32_t{SG_CONFIG_BOOL});
  EXPECT_EQ(kind("/bytes"), uint32_t{SG_CONFIG_INT});
  EXPECT_EQ(kind("/ratio"), uint32_t{SG_CONFIG_NUM});
  EXPECT_EQ(kind("/url"), uint32_t{SG_CONFIG_STR});
  EXPECT_EQ(kind("/list"), uint32_t{SG_CONFIG_LIST});
  EXPECT_EQ(kind(""), uint32_t{SG_CONFIG_MAP});
  EXPECT_EQ(kind(nullptr), uint32_t{SG_CONFIG_MAP});
}

TEST_F(ConfigTest, Elements_Counted_AndKeysInFileOrder) {
  EXPECT_EQ(host.config_count(&host, config, "/list"), 2u);
  EXPECT_EQ(host.config_count(&host, config, "/retry"), 2u);
  EXPECT_EQ(host.config_count(&host, config, "/url"), 0u);
  const sg_str first = host.config_key_at(&host, config, "/retry", 0);
  EXPECT_EQ(std::string(first.data, first.len), "max");
  EXPECT_EQ(host.config_key_at(&host, config, "/retry", 2).len, 0u);
  EXPECT_EQ(host.config_key_at(&host, config, "/list", 0).len, 0u);
}

TEST_F(ConfigTest, Texts_Got_StayWhereTheyAreAndEndWithNul) {
  const sg_str one = host.config_str(&host, config, "/url", {"", 0});
  const sg_str two = host.config_str(&host, config, "/url", {"", 0});
  EXPECT_EQ(one.data, two.data);
  EXPECT_EQ(one.data[one.len], '\0');
  const sg_str json = host.config_json(&host, config);
  EXPECT_EQ(json.data, host.config_json(&host, config).data);
  EXPECT_THAT(std::string(json.data, json.len), HasSubstr("\"bytes\":12"));
}

TEST_F(ConfigTest, WrongKind_GotWhileStarting_IsKeptWithItsPlace) {
  EXPECT_EQ(integer("/url"), -1);
  EXPECT_EQ(host.take_complaint(), "test.yaml:2:5: url: must be an integer, is text");
}

TEST_F(ConfigTest, UnreadableDuration_GotWhileStarting_IsKept) {
  EXPECT_EQ(duration("/retry/max"), -1);  // no unit
  EXPECT_THAT(host.take_complaint(), HasSubstr("test.yaml:4:5: retry.max: "));
}

TEST_F(ConfigTest, WrongKind_GotLater_IsLogged) {
  host.take_complaint();
  LogLines lines;
  EXPECT_EQ(flag("/retry/max", 1), 1u);
  EXPECT_THAT(
      lines.take(),
      ElementsAre(
          "error errors named: test.yaml:4:5: retry.max: must be true or false, is an integer"));
}

TEST_F(ConfigTest, Key_Failed_IsShownWithItsPlace) {
  EXPECT_EQ(host.place_of("retry.max"), "test.yaml:4:5: retry.max");
  EXPECT_EQ(host.place_of("retry.missing"), "test.yaml:3:5: retry.missing");
  EXPECT_EQ(host.place_of("on"), "on");
}

TEST(Config, NothingGiven_Got_IsAnEmptyMap) {
  Host host("named", "kind", Value{}, {});
  EXPECT_EQ(host.config_kind(&host, host.config(), ""), uint32_t{SG_CONFIG_MAP});
  const sg_str json = host.config_json(&host, host.config());
  EXPECT_EQ(std::string(json.data, json.len), "{}");
}

}  // namespace
}  // namespace sandglass::plugin
