// Which objects a baseline needs: what before() and diff() may ask for.
#pragma once

#include <functional>
#include <string>

#include "git/snapshot.h"

namespace sandglass::git {

// Calls `fn` once for each object: commit, trees, and blobs of the workspace, whose path below the
// repository's root is `prefix`; above it only what says what is ignored and how lines end.
// Submodules are not entered. A tree that cannot be read is passed over and makes the result false,
// so does `fn` with false, which ends it.
bool each_needed(Snapshot& snapshot, const std::string& prefix,
                 const std::function<bool(const Oid& id, ObjectType type)>& fn);

}  // namespace sandglass::git
