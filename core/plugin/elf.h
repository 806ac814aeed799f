// A look into a plugin file before the loader maps it: what it exports and needs, read through
// pread with bounds of our own. No size, offset or count of the file is believed: each must lie
// inside the file, and what is read of one file is bounded (kMaxStrings and so on in elf.cc). A
// file that passes cannot end the host while it is mapped: all its segments are there in full.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sandglass::plugin {

struct TableSymbol {
  unsigned major = 0;    // 1 for sg_plugin_v1
  bool is_data = false;  // an object, not a function
  uint64_t size = 0;     // as the file says, 0 when it does not
};

struct Elf {
  std::vector<TableSymbol> tables;  // exported `sg_plugin_v<major>`, by major
  std::vector<std::string> needed;  // DT_NEEDED
  bool ends_process = false;        // calls exit(), quick_exit(), _exit() or _Exit()
};

// `fd` is open for reading, of any type of file. The Error's text has no path: "is a directory",
// "is cut short: ...". Thread-safe; leaves the descriptor's offset alone.
Result<Elf> look_into(int fd);

}  // namespace sandglass::plugin
