// What one look at a name tells, as far as it shows that something changed.
#pragma once

#include <sys/stat.h>

#include <cstdint>

struct Look {
  uint64_t inode = 0;
  mode_t mode = 0;
  int64_t size = 0, mtime_ns = 0, ctime_ns = 0;

  static Look of(const struct stat& st);
  bool is_directory() const { return S_ISDIR(mode); }
  bool operator==(const Look& o) const {
    return inode == o.inode && mode == o.mode && size == o.size && mtime_ns == o.mtime_ns &&
           ctime_ns == o.ctime_ns;
  }
};

// Time stamps advance in ticks of a clock. What was written in the present tick may be written once
// more and look the same: not settled.
int64_t tick_ns();
bool is_settled(const Look& look);
