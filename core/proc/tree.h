// Who belongs to a call: found, counted and signalled however it detached.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "proc/cgroup.h"

namespace sandglass::proc {

struct Member {
  pid_t pid;
  uint64_t start;  // clock ticks since boot; tells a reused pid apart
};

// The living processes of a call: those below its keeper, those in its control group, and those of
// our own user that carry its mark ("NAME=value") in their environment (they fell out of both only
// when the keeper was killed). One walk over /proc. Neither the keeper nor zombies count.
std::vector<Member> members_of(pid_t keeper, const Group& group, const std::string& mark);

// Moves each one that is still the process that was found into the group, for half a second at
// most.
void capture(const std::vector<Member>& members, Group& group);

// Signals each one that is still the process that was found.
void signal_members(const std::vector<Member>& members, int signo);

}  // namespace sandglass::proc
