// One pack file with its index (version 2), read with pread only: the workspace's owner may cut or
// rewrite a pack under us, and a mapped file would then end the process with SIGBUS.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/below.h"
#include "base/fd.h"
#include "git/object_cache.h"
#include "git/oid.h"

namespace sandglass::git {

// Any thread. What it returns is not yet proven to have the id asked for: see Objects.
class Pack {
 public:
  // `name` is below `objects` and without suffix: "pack/pack-1234". The descriptors stay open, so
  // the content survives a `git gc` that removes the file.
  static Result<Pack> open(const Root& objects, const std::string& name);

  std::optional<uint64_t> find(const Oid& id) const;  // offset in the pack
  // An object larger than `limit` comes without bytes.
  Result<ObjectPtr> read(uint64_t offset, uint64_t limit, ObjectCache& cache) const;

 private:
  struct Entry;
  Pack(Fd index, Fd pack) : index_(std::move(index)), pack_(std::move(pack)) {}
  Status load_fanout();
  Result<Entry> entry_at(uint64_t offset) const;
  Result<uint64_t> object_size(const Entry& entry) const;
  Result<std::string> unpack(const Entry& entry) const;

  Fd index_, pack_;
  std::array<uint32_t, 256> fanout_{};
};

}  // namespace sandglass::git
