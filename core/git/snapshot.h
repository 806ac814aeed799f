// The tree of a commit: what a path was.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "git/objects.h"

namespace sandglass::git {

constexpr uint32_t kRegular = 0100644, kExecutable = 0100755, kLink = 0120000;
constexpr uint32_t kDirectory = 0040000, kSubmodule = 0160000;

struct TreeEntry {
  uint32_t mode = 0;  // one of the five above
  Oid id{};
};

// Looks one name up in the raw bytes of a tree object. Nothing when it is not there.
std::optional<TreeEntry> find_in_tree(std::string_view tree, std::string_view name);

struct NamedEntry {
  std::string_view name;
  TreeEntry entry;
};
// All entries of a tree object, as they stand there; names point into `tree`. Ends where it is
// damaged.
std::vector<NamedEntry> parse_tree(std::string_view tree);

// Any thread. Trees are remembered up to a bound.
class Snapshot {
 public:
  // `top` is a commit or a tree.
  Snapshot(std::shared_ptr<Objects> objects, Oid top) : objects_(std::move(objects)), top_(top) {}

  // `path` is below the repository's root. Nothing when the baseline has no such path; a path
  // inside a submodule gives the submodule's entry.
  Result<std::optional<TreeEntry>> find(std::string_view path);
  Result<ObjectPtr> blob(const Oid& id, uint64_t limit);
  Result<ObjectPtr> tree(const Oid& id);
  Result<Oid> root();  // the id of its tree
  const Oid& top() const { return top_; }
  Objects& objects() { return *objects_; }

 private:
  Result<ObjectPtr> read(const Oid& id, ObjectType type, uint64_t limit);

  const std::shared_ptr<Objects> objects_;
  const Oid top_;
  std::mutex mutex_;
  std::optional<Oid> root_;
  std::map<Oid, ObjectPtr> trees_;
  size_t held_ = 0;  // bytes in trees_
};

}  // namespace sandglass::git
