#include "sandbox/key.h"

#include <gtest/gtest.h>

#include <set>

namespace sandglass::sandbox {
namespace {

config::Definition definition(const std::string& id, const std::string& json = "{}") {
  config::Definition d;
  d.id = id;
  d.json = json;
  return d;
}

TEST(Key, IsTheSameForEqualInputs_AndAnotherForEachOther) {  // L4
  const auto d = definition("repo");
  EXPECT_EQ(key_of(d, "/w", "a"), key_of(d, "/w", "a"));
  EXPECT_EQ(key_of(d, "/w", "a").size(), 32u);  // 128 bits
  const std::set<std::string> keys{key_of(d, "/w", "a"), key_of(d, "/w", ""), key_of(d, "/wa", ""),
                                   key_of(d, "/x", "a"),
                                   key_of(definition("repo", R"({"x":1})"), "/w", "a")};
  EXPECT_EQ(keys.size(), 5u);
}

TEST(Key, WithoutADefinition_ThereIsNone) {
  EXPECT_EQ(key_of(definition(""), "/w", "a"), "");
}

TEST(Stem, IsPlain_WhateverTheDirectoryIsCalled) {
  EXPECT_EQ(stem_of(definition("Repo.1"), "/w"), "repo.1");
  EXPECT_EQ(stem_of(definition(""), "/home/ann/My Shop!"), "my-shop");
  EXPECT_EQ(stem_of(definition(""), "/w/\xff\n"), "box");
  EXPECT_EQ(stem_of(definition(""), "/"), "box");
  EXPECT_LE(stem_of(definition(""), "/" + std::string(500, 'a')).size(), 32u);
}

}  // namespace
}  // namespace sandglass::sandbox
