// What was unpacked lately: most objects of a pack are deltas against a neighbour, and an agent
// changes the same few files again and again.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "git/oid.h"

namespace sandglass::git {

struct Object {
  ObjectType type = ObjectType::blob;
  std::string bytes;       // empty when the object is larger than the reader's limit
  uint64_t full_size = 0;  // of the whole
  bool whole() const { return bytes.size() == full_size; }
};
using ObjectPtr = std::shared_ptr<const Object>;

// Bounded; emptied when full. Any thread. Content is as the pack gave it, not proven by an id.
class ObjectCache {
 public:
  ObjectPtr get(const void* pack, uint64_t offset);  // null when it is not held
  void put(const void* pack, uint64_t offset, const ObjectPtr& object);
  void clear();

 private:
  std::mutex mutex_;
  std::map<std::pair<const void*, uint64_t>, ObjectPtr> held_;
  size_t bytes_ = 0;
};

}  // namespace sandglass::git
