// For all small damages to a valid file: it loads, or every problem has a place, and nothing
// crashes.
#include <gtest/gtest.h>

#include <cstdio>
#include <random>

#include "config/source.h"
#include "support.h"

namespace sandglass::config {

static std::string damaged(std::string text, std::mt19937& random) {
  static constexpr char kText[] =
      " \t\n\r:-[]{},&*!|>'\"%@`#?~$\\\0\xff\xc3\xa9"
      "aT1<.";
  constexpr std::string_view kBytes(kText, sizeof kText - 1);
  auto below = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
  const size_t count = 1 + below(4);
  for (size_t i = 0; i < count && !text.empty(); i++) {
    const size_t at = below(text.size());
    switch (below(6)) {
      case 0:
        text[at] = kBytes[below(kBytes.size())];
        break;
      case 1:
        text.insert(at, 1, kBytes[below(kBytes.size())]);
        break;
      case 2:
        text.erase(at, 1 + below(8));
        break;
      case 3:
        text.insert(at, text.substr(below(text.size()), below(40)));
        break;
      case 4:
        text.resize(at);
        break;
      case 5:
        text.insert(at, 1 + below(80), kBytes[below(kBytes.size())]);
        break;
    }
  }
  return text;
}

static bool has_place(const std::string& text) {
  unsigned line = 0, column = 0;
  return std::sscanf(text.c_str(), "m.yaml:%u:%u: ", &line, &column) == 2 && line > 0 && column > 0;
}

TEST(Mutation, AnyDamage_LoadsOrIsPlaced) {  // D5
  auto example = read_config_file(std::string(SANDGLASS_CONFIGS_DIR) + "/sandglass.yaml");
  ASSERT_TRUE(example);
  std::mt19937 random(20);
  size_t loaded = 0, refused = 0;
  for (int i = 0; i < 2000; i++) {
    const std::string text = damaged(example->bytes, random);
    Loaded got = load_text(text, "m.yaml", test_environment);
    (got.problems.empty() ? loaded : refused)++;
    for (const Problem& problem : got.problems)
      ASSERT_TRUE(has_place(problem.text) || problem.text.starts_with("and "))
          << problem.text << "\n---\n"
          << text;
  }
  EXPECT_GT(loaded, 50u);  // comments and the like
  EXPECT_GT(refused, 500u);
}

}  // namespace sandglass::config
