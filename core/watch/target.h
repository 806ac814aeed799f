// What is watched.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace sandglass::watch {

struct Target {
  std::string sandbox_id;
  std::string root = "/workspace";  // inside the sandbox
  std::string local_root;           // on this machine; empty where it cannot be seen from here
  std::vector<std::string> ignore = {".git", "node_modules"};  // names of directories
  int interval_ms = 700;
  // Runs a command in the root, where there is a box to run it in. Fails unless it ends with 0.
  std::function<Status(const std::vector<std::string>& argv, int64_t deadline_ns)> run;
};

// Why a watcher was taken, for people.
struct Choice {
  struct Passed {
    std::string watcher, reason;
  };
  std::string why;
  std::vector<Passed> passed;  // over, best first
};

}  // namespace sandglass::watch
