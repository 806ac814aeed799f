// Where the plugins are that the tests load.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>

#include "base/fd.h"

namespace sandglass::plugin {

inline std::string bad_plugin(const std::string& name) {
  return std::string(SANDGLASS_BAD_PLUGIN_DIR) + "/" + name + ".so";
}

inline std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A file without a name.
inline Fd file_of(const std::string& bytes) {
  Fd fd(::memfd_create("plugin", MFD_CLOEXEC));
  if (fd) (void)write_all(fd.get(), bytes);
  return fd;
}

}  // namespace sandglass::plugin
