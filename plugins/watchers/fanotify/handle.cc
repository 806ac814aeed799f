#include "handle.h"

#include <sys/random.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace fanotify_watcher {

namespace {

__extension__ using Wide = unsigned __int128;

struct Seeds {
  uint64_t a = 0x9e3779b97f4a7c15, b = 0xc2b2ae3d27d4eb4f;
  Seeds() {
    uint64_t random[2] = {};
    if (::getrandom(random, sizeof random, 0) < 0) return;
    a ^= random[0];
    b ^= random[1];
  }
};

uint64_t mix(uint64_t x, uint64_t y) {
  const Wide product = Wide{x} * y;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

void feed(Key& key, uint64_t word) {
  key.a = mix(key.a ^ word, 0xd6e8feb86659fd93);
  key.b = mix(key.b ^ (word >> 32 | word << 32), 0xa0761d6478bd642f);
}

}  // namespace

Key key_of(uint64_t fsid, const file_handle& handle) {
  static const Seeds seeds;
  Key key{seeds.a, seeds.b};
  feed(key, fsid);
  feed(key, uint64_t{handle.handle_bytes} << 32 | static_cast<uint32_t>(handle.handle_type));
  for (size_t at = 0; at < handle.handle_bytes; at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, handle.f_handle + at, std::min<size_t>(8, handle.handle_bytes - at));
    feed(key, word);
  }
  if (!key) key.a = 1;
  return key;
}

bool handle_at(int dir, const char* name, Handle& handle) {
  handle.abi().handle_bytes = MAX_HANDLE_SZ;
  return ::name_to_handle_at(dir, name, &handle.abi(), &handle.mount, *name ? 0 : AT_EMPTY_PATH) ==
         0;
}

bool fsid_of(int fd, uint64_t& fsid) {
  struct statfs fs {};
  if (::fstatfs(fd, &fs) < 0) return false;
  static_assert(sizeof fs.f_fsid == sizeof fsid);
  std::memcpy(&fsid, &fs.f_fsid, sizeof fsid);
  return true;
}

}  // namespace fanotify_watcher
