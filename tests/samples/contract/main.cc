// An empty TMPDIR for each test of this process, so that each sees its own copies alone.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "support/guard.h"
#include "support/leftovers.h"

namespace {

class OwnTemporary : public ::testing::EmptyTestEventListener {
  void OnTestStart(const ::testing::TestInfo&) override {
    const char* base = std::getenv("TMPDIR");
    before_ = base ? base : "/tmp";
    std::string pattern = before_ + "/sandglass-samples-XXXXXX";
    if (!::mkdtemp(pattern.data())) std::abort();
    here_ = pattern;
    ::setenv("TMPDIR", here_.c_str(), 1);
  }
  void OnTestEnd(const ::testing::TestInfo&) override {
    std::error_code ignored;
    std::filesystem::remove_all(here_, ignored);
    ::setenv("TMPDIR", before_.c_str(), 1);
  }
  std::string before_, here_;
};

}  // namespace

// The last listener is the first to hear of a test's end: its copies are gone when leftovers are
// looked for.
int main(int argc, char** argv) {
  return sandglass::testing::run_guarded([&] {
    ::testing::InitGoogleTest(&argc, argv);
    auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
    listeners.Append(new sandglass::testing::Leftovers);
    listeners.Append(new OwnTemporary);
    return RUN_ALL_TESTS();
  });
}
