// Other object directories that a repository borrows from (`git clone --shared`, `--reference`).
#pragma once

#include <string>
#include <vector>

namespace sandglass::git {

// Reads `info/alternates` of an object directory and of those it names, to a depth of five, once,
// at the first ready. Absolute paths free of symbolic links; what does not exist is left out.
std::vector<std::string> read_alternates(const std::string& objects);

}  // namespace sandglass::git
