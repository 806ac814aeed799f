// File handles: what the kernel calls a directory by in its events, wherever it is and whatever it
// is named.
#pragma once

#include <fcntl.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "../common/fd.h"

namespace fanotify_watcher {

using watcher_common::Fd;

// A file system and a handle in it, as a keyed hash of 128 bits: equal for equal handles, and
// nobody can choose two that meet. Empty is "not known".
struct Key {
  uint64_t a = 0, b = 0;
  bool operator==(const Key&) const = default;
  explicit operator bool() const { return (a | b) != 0; }
};
struct KeyHash {
  size_t operator()(const Key& key) const { return key.a; }
};
Key key_of(uint64_t fsid, const file_handle& handle);

// One found by name_to_handle_at.
struct Handle {
  alignas(8) char space[sizeof(file_handle) + MAX_HANDLE_SZ];
  int mount = -1;
  file_handle& abi() { return *reinterpret_cast<file_handle*>(space); }
};
// Of `name` in the directory, or of the directory itself where it is "". A link is not followed.
// False with errno set.
bool handle_at(int dir, const char* name, Handle& handle);

// The file system's number, as events carry it. False with errno set.
bool fsid_of(int fd, uint64_t& fsid);

}  // namespace fanotify_watcher
