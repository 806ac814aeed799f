// After each test: whatever it started, opened or made and did not end, close or remove fails it.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/left.h"

namespace sandglass::testing {

// What there is now.
struct Present {
  std::map<pid_t, Process> processes;
  std::map<int, std::string> descriptors;  // number and target
  std::map<pid_t, std::string> threads;    // number and name
  std::set<std::string> files;

  static Present look();
};

class Leftovers : public ::testing::EmptyTestEventListener {
 public:
  Leftovers();
  void OnTestStart(const ::testing::TestInfo&) override;
  void OnTestEnd(const ::testing::TestInfo&) override;

 private:
  Present before_;
};

}  // namespace sandglass::testing
