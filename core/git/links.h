// Keeping objects as they lie in a repository: a hard link costs nothing and outlives every `rm`
// and `git gc`. It shares its bytes with the workspace's owner, so what is read is proven by its id
// as ever.
#pragma once

#include <string>
#include <vector>

#include "git/snapshot.h"

namespace sandglass::git {

struct LinkSource {
  Snapshot* snapshot;  // of the commit whose objects are needed
  std::string prefix;  // see each_needed
};

enum class Linking {
  all,      // every pack and every needed loose object is kept
  refused,  // packs cannot be linked from here: another file system, or not ours
  part,     // some are not kept: too many, or not readable
};

// Links all packs of the object directories and those loose objects that are needed into `folder`,
// which is made. Where linking is refused, loose objects are copied, packs are not. Ends at
// `until_ns` (monotonic).
Linking link_objects(const std::vector<std::string>& directories,
                     const std::vector<LinkSource>& needed, const std::string& folder,
                     int64_t until_ns);

}  // namespace sandglass::git
