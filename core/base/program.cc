#include "base/program.h"

#include <limits.h>
#include <unistd.h>

#include <filesystem>

namespace sandglass {

std::string installed(std::string_view below) {
  char program[PATH_MAX];
  const ssize_t n = ::readlink("/proc/self/exe", program, sizeof program);
  if (n <= 0 || n == sizeof program) return {};
  const std::filesystem::path path(std::string(program, static_cast<size_t>(n)));
  return (path.parent_path().parent_path() / below).string();
}

}  // namespace sandglass
