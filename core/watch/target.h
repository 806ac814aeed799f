// What is watched.
#pragma once

#include <string>
#include <vector>

namespace sandglass::watch {

struct Target {
  std::string sandbox_id;
  std::string root = "/workspace";  // inside the sandbox
  std::string local_root;           // on this machine; empty where it cannot be seen from here
  std::vector<std::string> ignore = {".git", "node_modules"};  // names of directories
  int interval_ms = 700;
};

}  // namespace sandglass::watch
