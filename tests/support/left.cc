#include "support/left.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace sandglass::testing {
namespace {

namespace fs = std::filesystem;

// Of a file in /proc: what could be read before its process was gone.
std::string bytes_of(const fs::path& file) {
  std::string out;
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return out;
  char part[4096];
  for (ssize_t n; (n = ::read(fd, part, sizeof part)) > 0;)
    out.append(part, static_cast<size_t>(n));
  ::close(fd);
  return out;
}

}  // namespace

int grace_ms() {
  const char* given = std::getenv("SANDGLASS_TEST_GRACE_MS");
  return given && *given ? std::atoi(given) : 5000;
}

std::map<pid_t, Process> children_of(const std::vector<pid_t>& parents) {
  std::map<pid_t, Process> out;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator("/proc", code)) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    if (pid <= 0) continue;
    const std::string stat = bytes_of(entry.path() / "stat");
    const size_t open = stat.find('('), close = stat.rfind(')');
    if (close == stat.npos || close + 4 > stat.size()) continue;  // gone meanwhile
    Process one{std::atoi(stat.c_str() + close + 4), stat[close + 2], {}};
    if (std::find(parents.begin(), parents.end(), one.parent) == parents.end()) continue;
    one.what = bytes_of(entry.path() / "cmdline");
    if (!one.what.empty() && one.what.back() == '\0') one.what.pop_back();
    std::replace(one.what.begin(), one.what.end(), '\0', ' ');
    if (one.what.empty()) one.what = stat.substr(open + 1, close - open - 1);
    out.emplace(pid, std::move(one));
  }
  return out;
}

std::string text_of(pid_t pid, const Process& process) {
  return "process " + std::to_string(pid) + (process.state == 'Z' ? ", a zombie: " : ": ") +
         process.what;
}

}  // namespace sandglass::testing
