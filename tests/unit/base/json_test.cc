#include "base/json.h"

#include <gtest/gtest.h>

namespace sandglass {

TEST(Json, Writer_NestedValues_PlacesCommas) {
  JsonWriter w;
  w.open('{').key("a").value(1).key("b").open('[').value("x").value(true).null().close(']');
  w.key("c").open('{').close('}').close('}');
  EXPECT_EQ(w.text(), R"({"a":1,"b":["x",true,null],"c":{}})");
}

TEST(Json, String_AnyBytes_StaysValid) {  // W9
  std::string out;
  append_json_string(out, std::string_view("q\"\\\n\x01\xff\xc3\xa9", 8));
  EXPECT_EQ(out, "\"q\\\"\\\\\\n\\u0001\xef\xbf\xbd\xc3\xa9\"");
}

}  // namespace sandglass
