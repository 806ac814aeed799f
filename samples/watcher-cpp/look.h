// What one look at a name tells, as far as it shows that something changed.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>

struct Look {
  uint64_t inode = 0;
  mode_t mode = 0;
  int64_t size = 0, mtime_ns = 0, ctime_ns = 0;

  static Look of(const struct stat& st);
  bool is_directory() const { return S_ISDIR(mode); }
  // A chmod, a new link or a rename moves the ctime alone.
  bool same_data(const Look& o) const {
    return inode == o.inode && size == o.size && mtime_ns == o.mtime_ns;
  }
  bool operator==(const Look& o) const {
    return same_data(o) && mode == o.mode && ctime_ns == o.ctime_ns;
  }
};

// Time stamps advance in ticks of a clock. What was written in the present tick may be written once
// more and look the same: not settled.
int64_t tick_ns();
int64_t tick_now_ns();
// Of a look that began at that tick.
bool is_settled(const Look& look, int64_t began_ns);
// Of a file's bytes; 0 for what is none or cannot be read.
uint64_t hash_of(const std::string& path);
