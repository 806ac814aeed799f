// Whose file a plugin is. It runs with all the rights of this process, so nobody else may be able
// to change it: not the file, and not the folder that names it.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace sandglass::plugin {

struct Opened {
  Fd fd;
  dev_t device = 0;
  ino_t inode = 0;
};

// Opens a plugin for reading (links are followed, a FIFO does not block) and refuses it when it or
// its folder belongs to someone other than root and this user, or may be written by others. A group
// that holds this user alone is not others. The Error's text has no path, and ends with the cure.
Result<Opened> open_trusted(const std::string& path);

// Compares the file's SHA-256 with a pin of 64 hex digits, "sha256:" before it allowed.
Status check_pin(int fd, std::string_view pin);

}  // namespace sandglass::plugin
