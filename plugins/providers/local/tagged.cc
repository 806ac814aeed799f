#include "tagged.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "box.h"

namespace local {
namespace {

constexpr size_t kMaxEnviron = 4 << 20;

struct Process {
  int pid;
  Fd pidfd;  // proves in a signal that it is still the one that was looked at
};

bool carries(int pid, const std::string& wanted) {
  const Fd fd(::open(("/proc/" + std::to_string(pid) + "/environ").c_str(), O_RDONLY | O_CLOEXEC));
  struct stat st;
  if (!fd || ::fstat(fd.get(), &st) < 0 || st.st_uid != ::geteuid()) return false;
  std::string bytes(1, '\0');
  std::array<char, 16384> part;
  for (ssize_t n;
       bytes.size() < kMaxEnviron && (n = ::read(fd.get(), part.data(), part.size())) > 0;) {
    bytes.append(part.data(), static_cast<size_t>(n));
  }
  return bytes.find(wanted) != std::string::npos;
}

std::vector<Process> tagged(std::string_view tag) {
  std::vector<Process> out;
  if (tag.empty()) return out;
  std::string wanted(1, '\0');
  wanted.append("SANDGLASS_TAG=").append(tag).append(1, '\0');
  std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir("/proc"), ::closedir);
  while (const dirent* entry = dir ? ::readdir(dir.get()) : nullptr) {
    const int pid = std::atoi(entry->d_name);
    if (pid <= 0 || pid == ::getpid()) continue;
    Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (pidfd && carries(pid, wanted)) out.push_back({pid, std::move(pidfd)});
  }
  return out;
}

}  // namespace

int signal_tagged(std::string_view tag, int signo) {
  int count = 0;
  for (const Process& process : tagged(tag)) {
    count += ::syscall(SYS_pidfd_send_signal, process.pidfd.get(), signo, nullptr, 0) == 0;
  }
  return count;
}

bool resize_tagged(std::string_view tag, uint32_t rows, uint32_t columns) {
  const winsize size{static_cast<unsigned short>(rows), static_cast<unsigned short>(columns), 0, 0};
  for (const Process& process : tagged(tag)) {
    for (const char* stream : {"/fd/1", "/fd/0", "/fd/2"}) {
      const std::string path = "/proc/" + std::to_string(process.pid) + stream;
      struct stat st;
      if (::stat(path.c_str(), &st) < 0 || !S_ISCHR(st.st_mode)) continue;
      const Fd fd(::open(path.c_str(), O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
      // A size is set only where there is one: not on /dev/null.
      if (fd && ::isatty(fd.get()) && ::ioctl(fd.get(), TIOCSWINSZ, &size) == 0) return true;
    }
  }
  return false;
}

}  // namespace local
