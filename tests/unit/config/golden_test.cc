// Every message that a configuration can earn, as a person sees it: tests/golden/config/NAME.yaml gives
// NAME.expected. SANDGLASS_UPDATE_GOLDEN=1 writes them anew; read the difference before you keep it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "support.h"

namespace sandglass::config {

namespace fs = std::filesystem;

static std::string read_all(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

static std::vector<std::string> golden_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(SANDGLASS_GOLDEN_DIR))
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem());
  std::sort(names.begin(), names.end());
  return names;
}

class Golden : public ::testing::TestWithParam<std::string> {};

TEST_P(Golden, Load_File_GivesExpectedProblems) {  // D5, D6, Y1, Y2, Y4, Y5, C3
  const fs::path base = fs::path(SANDGLASS_GOLDEN_DIR) / GetParam();
  const std::string got =
      texts(load_yaml(read_all(base.string() + ".yaml"), GetParam() + ".yaml").problems);
  if (std::getenv("SANDGLASS_UPDATE_GOLDEN"))
    std::ofstream(base.string() + ".expected", std::ios::binary) << got;
  ASSERT_TRUE(fs::exists(base.string() + ".expected"));
  EXPECT_EQ(got, read_all(base.string() + ".expected"));
}

INSTANTIATE_TEST_SUITE_P(Config, Golden, ::testing::ValuesIn(golden_names()),
                         [](const auto& test) { return test.param; });

}  // namespace sandglass::config
