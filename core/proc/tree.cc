#include "proc/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "base/clock.h"
#include "base/fd.h"

namespace sandglass::proc {
namespace {

constexpr size_t kMaxEnviron = 4 << 20;

struct Process {
  pid_t parent;
  uint64_t start;
};
using Table = std::unordered_map<pid_t, Process>;

// /proc/<pid>/stat: "pid (name) state ppid ... start"; the name may hold spaces and parentheses.
bool read_stat(pid_t pid, Process& out) {
  char path[32];
  std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
  Fd fd(::open(path, O_RDONLY | O_CLOEXEC));
  std::array<char, 1024> bytes;
  const ssize_t n = fd ? ::read(fd.get(), bytes.data(), bytes.size() - 1) : -1;
  if (n <= 0) return false;
  bytes[static_cast<size_t>(n)] = 0;
  const char* rest = std::strrchr(bytes.data(), ')');
  if (!rest) return false;
  char state = 0;
  int parent = 0;
  unsigned long long start = 0;
  const int fields =
      std::sscanf(rest + 1,
                  " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
                  "%*d %*d %llu",
                  &state, &parent, &start);
  if (fields != 3 || state == 'Z' || state == 'X') return false;
  out = {parent, start};
  return true;
}

Table all_processes() {
  Table table;
  std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir("/proc"), ::closedir);
  while (const dirent* entry = dir ? ::readdir(dir.get()) : nullptr) {
    const pid_t pid = std::atoi(entry->d_name);
    Process process;
    if (pid > 0 && read_stat(pid, process)) table.emplace(pid, process);
  }
  return table;
}

// Our own user's, so that nobody can be made to look like a member by someone else.
bool carries(pid_t pid, std::string_view wanted) {
  char path[32];
  std::snprintf(path, sizeof path, "/proc/%d/environ", pid);
  Fd fd(::open(path, O_RDONLY | O_CLOEXEC));
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

// All below `top`, which itself is left out.
void add_descendants(const Table& table, pid_t top, std::unordered_set<pid_t>& out) {
  std::unordered_multimap<pid_t, pid_t> children;
  for (const auto& [pid, process] : table) children.emplace(process.parent, pid);
  std::vector<pid_t> todo{top};
  while (!todo.empty()) {
    const auto [first, last] = children.equal_range(todo.back());
    todo.pop_back();
    for (auto it = first; it != last; ++it) {
      if (out.insert(it->second).second) todo.push_back(it->second);
    }
  }
}

}  // namespace

std::vector<Member> members_of(pid_t keeper, const Group& group, const std::string& mark) {
  const Table table = all_processes();
  std::unordered_set<pid_t> found;
  add_descendants(table, keeper, found);
  for (pid_t pid : group.pids()) found.insert(pid);
  const std::string wanted = '\0' + mark + '\0';
  for (const auto& [pid, process] : table) {
    if (!found.contains(pid) && carries(pid, wanted)) found.insert(pid);
  }
  found.erase(keeper);
  std::vector<Member> out;
  for (pid_t pid : found) {
    if (auto it = table.find(pid); it != table.end()) out.push_back({pid, it->second.start});
  }
  return out;
}

static bool is_still(const Member& member) {
  Process now;
  return read_stat(member.pid, now) && now.start == member.start;
}

void capture(const std::vector<Member>& members, Group& group) {
  const int64_t end = mono_ns() + 500'000'000;
  for (const Member& member : members) {
    if (mono_ns() > end) return;
    if (!is_still(member)) continue;
    group.add(member.pid);
    if (!is_still(member)) group.give_back(member.pid);  // its number went to somebody else
  }
}

void signal_members(const std::vector<Member>& members, int signo) {
  for (const Member& member : members) {
    Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, member.pid, 0)));
    if (!pidfd || !is_still(member)) continue;
    ::syscall(SYS_pidfd_send_signal, pidfd.get(), signo, nullptr, 0);
  }
}

}  // namespace sandglass::proc
