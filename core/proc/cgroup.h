// A control group of one call, below the host's own: it holds every process of the call for sure
// and can end them in one stroke. Made where the host may, with version 2 before the command
// starts; elsewhere an empty Group, and the keeper alone holds the tree. To move a running process
// costs ten milliseconds and more, so the command is born in its group, and version 1, where that
// cannot be, is left for a tree that forks faster than it is killed.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.h"

namespace sandglass::proc {

// Owned by one run(), used on its thread.
class Group {
 public:
  static Group make();
  // Of the version 1 freezer or pids hierarchy, for add().
  static Group make_late();

  explicit operator bool() const { return static_cast<bool>(join_); }
  int dir_fd() const { return dir_.get(); }    // of version 2: to be born into
  int join_fd() const { return join_.get(); }  // writing "0" makes the writer a member
  int kill_fd() const { return kill_.get(); }  // -1 where the kernel has no cgroup.kill
  int parent_fd() const { return parent_.get(); }
  const std::string& name() const { return name_; }
  uint64_t id() const { return id_; }  // of version 2, else 0

  std::vector<pid_t> pids() const;
  // Makes a running process a member, or takes it back to the host's group.
  void add(pid_t pid);
  void give_back(pid_t pid);
  // KILLs all members, children they are just making included.
  void kill();
  // Removes it with the groups that members made inside. Does nothing while members live.
  void remove();

 private:
  enum class Kind { unified, freezer, pids };
  struct Hierarchy;
  static const std::vector<Hierarchy>& usable();
  static Group make_in(const Hierarchy& hierarchy);
  Fd parent_, dir_, join_, kill_;
  std::string name_;
  uint64_t id_ = 0;
};

}  // namespace sandglass::proc
