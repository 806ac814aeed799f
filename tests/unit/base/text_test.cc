#include "base/text.h"

#include <gtest/gtest.h>

namespace sandglass {

TEST(Text, Shown_ControlAndBidiCharacters_AreEscaped) {  // P3
  EXPECT_EQ(shown("a\nb\x1b[31m"), "a\\nb\\x1b[31m");
  EXPECT_EQ(shown("\xe2\x80\xae"
                  "rtl"),
            "\\u202ertl");
  EXPECT_EQ(shown("caf\xc3\xa9 \xf0\x9f\x98\x80"), "caf\xc3\xa9 \xf0\x9f\x98\x80");
  EXPECT_EQ(shown("bad\xff"), "bad\\xff");
  EXPECT_EQ(shown("back\\slash"), "back\\\\slash");
}

TEST(Text, ShownText_KeepsLinesAndTabs_EscapesTheRest) {  // P3
  EXPECT_EQ(shown_text("+a\t\\n\n-\x1b]0;x\x07\r\n"), "+a\t\\n\n-\\x1b]0;x\\x07\\r\n");
}

TEST(Text, Utf8_OverlongAndSurrogates_AreRefused) {  // W9
  EXPECT_FALSE(is_utf8("\xc0\x80"));
  EXPECT_FALSE(is_utf8("\xed\xa0\x80"));
  EXPECT_FALSE(is_utf8("\xf4\x90\x80\x80"));
  EXPECT_FALSE(is_utf8("half\xc3"));
  EXPECT_TRUE(is_utf8("\xf4\x8f\xbf\xbf"));
}

TEST(Text, Nearest_TypingMistake_IsFound) {
  const std::string_view known[] = {"provider", "workspace", "hooks"};
  EXPECT_EQ(nearest("provder", known, 3), "provider");
  EXPECT_EQ(nearest("xyzzyplugh", known, 3), "");
}

TEST(Text, Base64_AllTails_ArePadded) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("a"), "YQ==");
  EXPECT_EQ(base64("ab"), "YWI=");
  EXPECT_EQ(base64("abc"), "YWJj");
}

}  // namespace sandglass
