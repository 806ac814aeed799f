// Which repository a path belongs to, the workspace's own or one below it, and what it was there
// (row T16).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "git/content.h"
#include "git/snapshot.h"

namespace sandglass::git {

// The object directories of a baseline: the pin's, then the repositories' own.
Result<std::shared_ptr<Objects>> open_objects(const Baseline& baseline);

// Any thread.
class Repositories {
 public:
  // As before() and diff() see it: the commits, or the files at ready where the baseline says so.
  static Result<std::unique_ptr<Repositories>> open(const Baseline& baseline);

  bool any() const { return !all_.empty(); }
  // Whether a path below the workspace belongs to one whose baseline there is.
  bool knows(std::string_view path) const { return of(path) != nullptr; }
  // Whether it is the workspace's own, not one below it.
  bool is_own(std::string_view path) const;
  // Nothing when the baseline has no such path.
  Result<std::optional<TreeEntry>> find(std::string_view path);
  // The same for a path below the root of the workspace's own repository.
  Result<std::optional<TreeEntry>> find_from_root(std::string_view path);
  Result<ObjectPtr> blob(const Oid& id, uint64_t limit);

 private:
  struct One {
    std::string path;                    // of its root, below the workspace
    std::string prefix;                  // the workspace below its root
    std::unique_ptr<Snapshot> snapshot;  // null: it has no commit, or its objects are lost
    std::string lost;                    // why
  };
  explicit Repositories(std::string prefix) : prefix_(std::move(prefix)) {}
  const One* of(std::string_view path) const;
  void add(std::string path, std::string prefix, const std::string& top,
           const Result<std::shared_ptr<Objects>>& objects);

  const std::string prefix_;
  std::shared_ptr<Objects> objects_;
  std::vector<One> all_;  // the longest path first
};

}  // namespace sandglass::git
