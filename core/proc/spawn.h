// Starts a keeper with its command waiting at the gate. Everything the two need is made here,
// before the fork.
#pragma once

#include "base/fd.h"
#include "base/result.h"
#include "proc/cgroup.h"
#include "proc/child.h"

namespace sandglass::proc {

// The host's ends. in, out and err never block; with a terminal out is its master, in a duplicate
// of that, err is empty. in is empty without input.
struct Child {
  pid_t keeper_pid = -1;
  Fd keeper;   // pidfd
  Fd control;  // Notes come, words go
  Fd gate;     // one byte lets the command run; closing it ends it before it began
  Fd in, out, err;
  Group group;
  std::string mark;  // in the environment of every process of the call, of no other
};

Result<Child> spawn(const Spawn& what);

}  // namespace sandglass::proc
