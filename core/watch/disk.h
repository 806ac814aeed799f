// Looks at the disk below the held root, never through a symbolic link. Keeps the last directory
// open within a batch, because hints come in runs of one directory; forget() ends that.
// Not thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/below.h"
#include "watch/tree.h"

namespace sandglass::watch {

enum class Found {
  present,
  absent,   // certainly not there
  unknown,  // no right to look, or no way to name it: says nothing
  busy,     // could not look now (out of descriptors or memory, an I/O error): look again
};

struct Listed {
  std::string_view name;  // valid until the next list()
  bool is_dir;            // as readdir told, false where it did not
};

class Disk {
 public:
  // Opens the root by its path, again where it was removed and made anew. A root that is not there
  // any more makes every look `absent`. The last component must not be a link: the name may have
  // been given to one by those who are watched.
  Status open(const std::string& path);
  void close();
  bool is_open() const { return root_.has_value(); }
  // Device and inode of the root held, 0 when none.
  uint64_t root_device() const { return device_; }
  uint64_t root_inode() const { return inode_; }

  // lstat of `name` in the directory `dir` ("" is the root).
  Found look(std::string_view dir, std::string_view name, Seen& out);
  // Names in `dir` without "." and "..". `present` only when it was read to its end; else `out` may
  // be a part.
  Found list(std::string_view dir, std::vector<Listed>& out);
  void forget();

 private:
  Found enter(std::string_view dir, bool readable);

  std::optional<Root> root_;
  uint64_t device_ = 0;
  uint64_t inode_ = 0;
  std::string dir_;  // the directory that dir_fd_ is
  Fd dir_fd_;
  bool readable_ = false;
  std::vector<char> buffer_;
  std::string names_;
};

}  // namespace sandglass::watch
