#include "git/object_cache.h"

namespace sandglass::git {

static constexpr size_t kMaxBytes = 24u << 20, kMaxObject = 2u << 20;

ObjectPtr ObjectCache::get(const void* pack, uint64_t offset) {
  std::lock_guard lock(mutex_);
  const auto found = held_.find({pack, offset});
  return found == held_.end() ? nullptr : found->second;
}

void ObjectCache::put(const void* pack, uint64_t offset, const ObjectPtr& object) {
  if (object->bytes.size() > kMaxObject) return;
  std::lock_guard lock(mutex_);
  if (bytes_ + object->bytes.size() > kMaxBytes) {
    held_.clear();
    bytes_ = 0;
  }
  if (held_.emplace(std::pair(pack, offset), object).second) bytes_ += object->bytes.size() + 128;
}

void ObjectCache::clear() {
  std::lock_guard lock(mutex_);
  held_.clear();
  bytes_ = 0;
}

}  // namespace sandglass::git
