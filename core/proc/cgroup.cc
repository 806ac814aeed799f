#include "proc/cgroup.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <random>
#include <sstream>

namespace sandglass::proc {
namespace {

bool has_word(const std::string& list, std::string_view word) {
  std::istringstream in(list);
  for (std::string part; std::getline(in, part, ',');) {
    if (part == word) return true;
  }
  return false;
}

// The host's path in the hierarchy that /proc/self/cgroup names by this controller ("" is version
// 2).
std::string own_path(std::string_view controller) {
  std::ifstream in("/proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (controller.empty() ? controllers.empty() : has_word(controllers, controller)) {
      return line.substr(second + 1);
    }
  }
  return "";
}

// Where that hierarchy is mounted, with the host's own path below it.
std::string own_directory(std::string_view controller) {
  const std::string own = own_path(controller);
  if (own.empty()) return "";
  std::ifstream in("/proc/self/mountinfo");
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string skip, root, point, word, type, source, options;
    words >> skip >> skip >> skip >> root >> point;
    while (words >> word && word != "-") {
    }
    words >> type >> source >> options;
    const bool found =
        controller.empty() ? type == "cgroup2" : type == "cgroup" && has_word(options, controller);
    if (!found) continue;
    if (root == "/") return own == "/" ? point : point + own;
    return own.starts_with(root) ? point + own.substr(root.size()) : point;
  }
  return "";
}

Fd open_at(int dir, const char* name, int flags) {
  return Fd(::openat(dir, name, flags | O_CLOEXEC | O_NOFOLLOW));
}

std::string random_name() {
  std::random_device random;
  std::ostringstream name;
  name << "sandglass-" << std::hex << random() << random();
  return name.str();
}

void put(int dir, const char* file, std::string_view text) {
  Fd fd = open_at(dir, file, O_WRONLY);
  if (fd) [[maybe_unused]]
    ssize_t n = ::write(fd.get(), text.data(), text.size());
}

void remove_below(int parent, const char* name, int depth) {
  if (::unlinkat(parent, name, AT_REMOVEDIR) == 0 || depth == 0) return;
  const int fd = ::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return;
  std::unique_ptr<DIR, int (*)(DIR*)> dir(::fdopendir(fd), ::closedir);
  if (!dir) {
    ::close(fd);
    return;
  }
  while (const dirent* entry = ::readdir(dir.get())) {
    if (entry->d_type == DT_DIR && entry->d_name[0] != '.') {
      remove_below(::dirfd(dir.get()), entry->d_name, depth - 1);
    }
  }
  ::unlinkat(parent, name, AT_REMOVEDIR);
}

}  // namespace

struct Group::Hierarchy {
  Kind kind;
  std::string own;  // directory of the host's own group
};

// The hierarchies where the host may make groups, best first. Looked at once per process.
const std::vector<Group::Hierarchy>& Group::usable() {
  static const std::vector<Hierarchy> found = [] {
    std::vector<Hierarchy> out;
    const std::pair<Kind, const char*> kinds[] = {
        {Kind::unified, ""}, {Kind::freezer, "freezer"}, {Kind::pids, "pids"}};
    for (const auto& [kind, controller] : kinds) {
      const std::string own = own_directory(controller);
      if (!own.empty() && ::access(own.c_str(), W_OK) == 0 &&
          ::access((own + "/cgroup.procs").c_str(), W_OK) == 0) {
        out.push_back({kind, own});
      }
    }
    return out;
  }();
  return found;
}

Group Group::make() {
  for (const Hierarchy& hierarchy : usable())
    if (hierarchy.kind == Kind::unified) return make_in(hierarchy);
  return {};
}

Group Group::make_late() {
  for (const Hierarchy& hierarchy : usable()) {
    if (hierarchy.kind == Kind::unified) continue;
    if (Group group = make_in(hierarchy)) return group;
  }
  return {};
}

Group Group::make_in(const Hierarchy& hierarchy) {
  Group group;
  group.parent_ = Fd(::open(hierarchy.own.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  group.name_ = random_name();
  if (!group.parent_ || ::mkdirat(group.parent_.get(), group.name_.c_str(), 0755) < 0) return {};
  group.dir_ = open_at(group.parent_.get(), group.name_.c_str(), O_RDONLY | O_DIRECTORY);
  group.join_ = open_at(group.dir_.get(), "cgroup.procs", O_WRONLY);
  if (!group.join_) {
    ::unlinkat(group.parent_.get(), group.name_.c_str(), AT_REMOVEDIR);
    return {};
  }
  group.kill_ = open_at(group.dir_.get(), "cgroup.kill", O_WRONLY);
  struct stat st;
  if (hierarchy.kind == Kind::unified && ::fstat(group.dir_.get(), &st) == 0) group.id_ = st.st_ino;
  return group;
}

void Group::add(pid_t pid) {
  put(dir_.get(), "cgroup.procs", std::to_string(pid));
}

void Group::give_back(pid_t pid) {
  put(parent_.get(), "cgroup.procs", std::to_string(pid));
}

std::vector<pid_t> Group::pids() const {
  std::vector<pid_t> out;
  if (!dir_) return out;
  Fd fd = open_at(dir_.get(), "cgroup.procs", O_RDONLY);
  std::array<char, 4096> bytes;
  pid_t pid = 0;
  for (ssize_t n; fd && (n = ::read(fd.get(), bytes.data(), bytes.size())) > 0;) {
    for (char c : std::string_view(bytes.data(), static_cast<size_t>(n))) {
      if (c >= '0' && c <= '9') {
        pid = pid * 10 + (c - '0');
      } else if (pid > 0) {
        out.push_back(std::exchange(pid, 0));
      }
    }
  }
  return out;
}

void Group::kill() {
  if (!dir_) return;
  if (kill_) {
    [[maybe_unused]] ssize_t n = ::write(kill_.get(), "1", 1);
    return;
  }
  // Nobody forks while frozen, or with no room for a further process; which of the two files is
  // there depends on the hierarchy.
  put(dir_.get(), "freezer.state", "FROZEN");
  put(dir_.get(), "pids.max", "0");
  for (pid_t pid : pids()) ::kill(pid, SIGKILL);
  put(dir_.get(), "freezer.state", "THAWED");
}

void Group::remove() {
  if (dir_) remove_below(parent_.get(), name_.c_str(), 8);
}

}  // namespace sandglass::proc
