// The object database: loose objects and packs of one object directory and its alternates, read by
// ourselves. Nothing of the repository's configuration is looked at, no lock is taken, nothing is
// written. Every object's id is proven before it is handed out, so whoever changes these files can
// take content away but never pass off another.
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/below.h"
#include "git/pack.h"

namespace sandglass::git {

// Any thread; reads run in parallel, the lock only guards the lists.
class Objects {
 public:
  // Absolute paths, the repository's own first. A symbolic link on the way is refused. One that
  // cannot be opened is left out, all of them is an error.
  // `later` are opened when something is in none of the first.
  static Result<std::unique_ptr<Objects>> open(const std::vector<std::string>& directories,
                                               std::vector<std::string> later = {});

  // Fault::not_found when it is nowhere, Fault::corrupt when what is there is not it. An object
  // larger than `limit` bytes comes without bytes and unproven, its size as the file claims it.
  Result<ObjectPtr> read(const Oid& id, uint64_t limit);

 private:
  using Directories = std::vector<std::shared_ptr<const Root>>;
  using Packs = std::vector<std::shared_ptr<const Pack>>;

  Result<ObjectPtr> find(const Oid& id, uint64_t limit);
  std::shared_ptr<const Packs> packs();
  uint64_t opened();
  void look_for_packs();
  void open_later();
  std::shared_ptr<const Directories> directories();

  std::mutex mutex_;
  std::vector<std::string> later_;
  std::shared_ptr<const Directories> directories_ = std::make_shared<Directories>();
  std::set<std::pair<const void*, std::string>> tried_;  // packs, also those that did not open
  uint64_t opened_ = 0;                                  // how often the lists have grown
  ObjectCache cache_;
  std::shared_ptr<const Packs> packs_ = std::make_shared<Packs>();
};

}  // namespace sandglass::git
