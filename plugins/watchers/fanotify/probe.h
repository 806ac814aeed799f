// Whether a file system can be watched, and if not, why.
#pragma once

#include <string>

#include "handle.h"

namespace fanotify_watcher {

// A new group with a mark on the file system of `root`. Empty with `why` set: one sentence, with
// the cure.
Fd open_group(const std::string& root, std::string& why);
// Marks the file system of an open directory, unless changes come to it from elsewhere unheard of.
// False with errno set.
bool mark(int fan, int fd);

}  // namespace fanotify_watcher
