// Judges the table a plugin exports before anyone uses it, and takes a copy that is safe to read:
// whatever ABI minor the plugin was compiled against, a missing slot reads as null.
#pragma once

#include <sandglass/plugin.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/result.h"

namespace sandglass::plugin {

// A copy of a plugin's table, cut or filled with zeros to the size this host knows.
template <class T>
T adopt(const void* methods) {
  T out{};
  uint32_t size = 0;
  std::memcpy(&size, methods, sizeof size);
  std::memcpy(&out, methods, size < sizeof(T) ? size : sizeof(T));
  out.struct_size = sizeof(T);
  return out;
}

struct Table {
  std::string id, version;
  std::vector<sg_type> types;        // adopted; their pointers are the plugin's
  std::vector<std::string> unknown;  // kinds this host does not know: "sandglass.sink/1"
};

// Sizes of ABI 1.0, the least a table may have (and the least a file's symbol may say).
constexpr uint32_t kLeastPlugin = 56;
constexpr uint32_t kLeastType = 72;

// Runs no code of the plugin. The Error's text has no path: "its table ...".
Result<Table> read_table(const sg_plugin* table);

// "hook" of "sandglass.hook/1"; other texts as they are.
std::string short_kind(std::string_view kind);

}  // namespace sandglass::plugin
