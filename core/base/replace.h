// Puts a file, a link or nothing at a name below a root. What is there is never half of something,
// and what somebody else put there meanwhile is not lost: the new thing is made under a temporary
// name and exchanged with the old one, which is looked at before it goes.
#pragma once

#include <optional>
#include <string_view>

#include "base/below.h"

namespace sandglass {

struct NewContent {
  uint32_t mode = 0;       // S_IFREG with permission bits, or S_IFLNK
  std::string_view bytes;  // the file, or the text of the link
};

// What lstat says of a name; nothing where nothing is there.
Result<std::optional<struct stat>> look_below(const Root& root, std::string_view path);

// `expected` is what look_below() said. Fault::busy where something else lies there by now; it is
// left as it is. Missing directories are made. An existing file keeps its owner and its permission
// bits but for the execute bits; a new one gets the owner of its directory, and the mode less the
// umask.
Status replace_below(const Root& root, std::string_view path, const NewContent& content,
                     const std::optional<struct stat>& expected);

// The same for taking a file or link away. Directories that are empty then go as well.
Status remove_below(const Root& root, std::string_view path, const struct stat& expected);

}  // namespace sandglass
