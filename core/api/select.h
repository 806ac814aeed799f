// Which sandbox of the state directory, and which of its files, a request means.
#pragma once

#include <string>
#include <vector>

#include "api/operations.h"
#include "sandbox/store.h"

namespace sandglass::api {

Result<sandbox::InstanceRecord> find_record(const sandbox::Store& store, const Which& which);

// Paths as the user gave them: below the workspace, also when written as /workspace/x. A directory
// means all below it; none at all means every path.
class Selection {
 public:
  Selection(const std::string& root, const std::vector<std::string>& paths);
  bool has(const std::string& path) const;
  // Those of the given ones that none of the paths asked for was at or below.
  std::vector<std::string> unmatched() const;

 private:
  struct Prefix {
    std::string given, path;
    mutable bool met = false;
  };
  std::vector<Prefix> prefixes_;
};

}  // namespace sandglass::api
