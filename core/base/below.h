// Paths below a root. Names from a sandbox are data: every look below a workspace goes through a
// Root, which never follows a symbolic link, `..` or a mount trick out of it (openat2 with
// RESOLVE_BENEATH, RESOLVE_NO_SYMLINKS, RESOLVE_NO_MAGICLINKS). FIFOs and devices are never opened
// for reading.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace sandglass {

struct FileBytes {
  std::string bytes;       // the file, or the text of a symbolic link; cut at the cap
  uint64_t full_size = 0;  // of the whole
  uint32_t mode = 0;       // st_mode
};

// A directory held open. All paths are relative to it, "" is the directory itself, no leading or
// doubled slash. Safe from any thread.
class Root {
 public:
  // Follows links in `path`, which is the operator's. Fails when it is not a directory.
  static Result<Root> open(const std::string& path);

  int fd() const { return fd_.get(); }
  // Opens below the root; O_CLOEXEC is added. Fails with errno's text and the path shown safely.
  Result<Fd> open_below(std::string_view relative, int flags) const;
  // The same without building an error: a descriptor or -1 with errno set.
  int try_open(std::string_view relative, int flags) const;
  // lstat below the root. False with errno set.
  bool stat_below(std::string_view relative, struct stat& out) const;
  // A regular file or a symbolic link, at most `cap` bytes. Anything else is Fault::invalid, a
  // missing one Fault::not_found.
  Result<FileBytes> read(std::string_view relative, uint64_t cap) const;

 private:
  explicit Root(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

}  // namespace sandglass
