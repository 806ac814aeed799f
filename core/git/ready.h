// The working tree as it is at ready, written down as a git tree: what was dirty or untracked then
// is known afterwards, whatever the agent makes of it (rule B3).
//
// Nothing is told by `.git/index` alone: its stat data only saves reading files that cannot have
// changed since git wrote it. What is ignored or withheld is not in the tree. A file whose content
// is not known (too large, or the time was over) has an id of zeros.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/below.h"
#include "git/index_file.h"
#include "git/pack_writer.h"
#include "git/redact.h"
#include "git/rules.h"
#include "git/snapshot.h"

namespace sandglass::git {

struct ReadyLimits {
  int64_t until_ns = 0;     // monotonic: no content is read after it
  uint64_t bytes = 0;       // of all contents that are kept
  uint64_t file_bytes = 0;  // of one that is read at all
};

// Contents and trees that no commit has; one pack, made when there is something to put into it.
class ReadyStore {
 public:
  ReadyStore(std::string folder, ReadyLimits limits)
      : folder_(std::move(folder)), limits_(limits) {}
  const ReadyLimits& limits() const { return limits_; }
  // Nothing where it could not be stored.
  std::optional<Oid> add(ObjectType type, std::string_view bytes,
                         const std::optional<Oid>& id = {});
  Status finish();  // the first failure of all

 private:
  const std::string folder_;
  const ReadyLimits limits_;
  std::unique_ptr<PackWriter> pack_;
  Status failed_;
};

struct ReadyTree {  // one repository's part of the workspace
  const Root* workspace = nullptr;
  std::string path;              // of its root below the workspace; "" where that is at or above it
  std::string prefix;            // the workspace below its root
  Snapshot* head = nullptr;      // null: nothing is tracked
  IgnoreRules* rules = nullptr;  // null: nothing is ignored
  const IndexFile* index = nullptr;
};

struct ReadyOptions {
  std::vector<std::string> skip;  // names of directories that are passed over
  const Redaction* redaction = nullptr;
  // Asked for each directory below the workspace with a `.git` of its own; true leaves it out.
  // `recorded` is the commit that the tree above has for it.
  std::function<bool(const std::string& path, const std::optional<Oid>& recorded)> nested;
};

struct ReadyFound {
  std::optional<Oid> tree;  // of the repository's root
  uint64_t unknown = 0;     // files whose content is not known
  uint64_t unseen = 0;      // directories that were not looked into
};

ReadyFound look_at_ready(const ReadyTree& where, const ReadyOptions& options, ReadyStore& store);

}  // namespace sandglass::git
