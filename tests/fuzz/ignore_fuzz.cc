// Ignore rules of any bytes are asked about any path and answer in good time.
#include <cstdint>
#include <string>

#include "git/ignore.h"

using namespace sandglass::git;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const size_t line = all.find('\n');
  if (line == all.npos || line == 0) return 0;
  IgnoreSet set;
  set.everywhere = IgnoreFile::parse(all.substr(line + 1));
  set.of_directory = [](std::string_view) { return std::shared_ptr<const IgnoreFile>(); };
  (void)check_ignore(set, all.substr(0, line), false);
  return 0;
}
