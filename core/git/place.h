// Where a workspace's repository is. Found once, at the first ready; a `.git` that points elsewhere
// is followed only where the other side points back (rule B9).
#pragma once

#include <optional>
#include <string>

#include "base/below.h"

namespace sandglass::git {

// Opens an absolute path of which no component is a symbolic link.
Result<Root> open_exact(const std::string& absolute);

struct Place {
  Root git;                 // HEAD and what belongs to one working tree
  Root common;              // objects, refs, info; the same directory except in linked worktrees
  std::string common_path;  // absolute, free of symbolic links
  std::string prefix;       // the workspace below the top of the working tree: "" or "sub/dir"
};

struct Discovery {
  std::optional<Place> place;
  std::string note;      // a sentence for people, also when there is a place
  bool refused = false;  // there is a repository, but it cannot be used; the note says why
};

// Looks at `workspace` and above it, up to the mount's root as git does. `workspace` is absolute
// and free of symbolic links.
Discovery find_repository(const std::string& workspace);

// Looks at this directory only.
Discovery repository_at(const std::string& directory);

}  // namespace sandglass::git
