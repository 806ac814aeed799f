// One pack file with its index (version 2), read with pread only: the workspace's owner may cut or
// rewrite a pack under us, and a mapped file would then end the process with SIGBUS.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/below.h"
#include "base/fd.h"
#include "git/oid.h"

namespace sandglass::git {

struct Object {
  ObjectType type = ObjectType::blob;
  std::string bytes;       // empty when the object is larger than the reader's limit
  uint64_t full_size = 0;  // of the whole
  bool whole() const { return bytes.size() == full_size; }
};

// Any thread. What it returns is not yet proven to have the id asked for: see Objects.
class Pack {
 public:
  // `name` is below `objects` and without suffix: "pack/pack-1234". The descriptors stay open, so
  // the content survives a `git gc` that removes the file.
  static Result<Pack> open(const Root& objects, const std::string& name);

  std::optional<uint64_t> find(const Oid& id) const;  // offset in the pack
  Result<Object> read(uint64_t offset, uint64_t limit) const;

 private:
  struct Entry;
  Pack(Fd index, Fd pack) : index_(std::move(index)), pack_(std::move(pack)) {}
  Status load_fanout();
  Result<Entry> entry_at(uint64_t offset) const;
  Result<uint64_t> object_size(const Entry& entry) const;

  Fd index_, pack_;
  std::array<uint32_t, 256> fanout_{};
};

}  // namespace sandglass::git
