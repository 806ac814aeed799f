// The keeper: a process between the host and a command, forked from the host and never exec'd. It
// is the subreaper of its command, so whatever the command starts stays below it however it
// detaches, and is reaped there; the host keeps its own children's exit status to itself. Talks to
// the host over a SEQPACKET socket; when that breaks without a release it ends the tree, so a host
// that is killed leaves no orphans.
//
// It runs in the copy of a process that had threads: everything here is async-signal-safe, touches
// no heap and no lock, and uses only what Orders prepared.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace sandglass::proc {

// Keeper to host.
enum class Word : int32_t {
  ready,    // with the command's pidfd attached; a = its pid. It waits at the gate.
  no_cwd,   // a = errno
  no_exec,  // a = errno
  no_fork,  // a = errno
  exited,   // a = si_code, b = si_status, c = 1 when it left nothing
  idle,     // nothing of the call is left
};
struct Note {
  Word word;
  int32_t a = 0, b = 0, c = 0;
};

// Host to keeper, one byte each.
constexpr char kRelease =
    'r';                     // leave alone what still runs, discard its output, exit when it ends
constexpr char kKill = 'k';  // KILL everything until nothing is left

constexpr size_t kMaxKept = 16;

// All descriptors are 3 or more, so that none is in the way of the child's 0, 1 and 2.
struct Orders {
  char* const* argv = nullptr;
  char* const* envp = nullptr;
  const char* const* programs = nullptr;  // paths to try in order, ended by null
  const char* cwd = nullptr;              // null: stay
  int control = -1;
  int gate = -1;                       // readable: run; end of file: do not
  int in = -1, out = -1, err = -1;     // the command's 0, 1, 2
  int terminal = -1;                   // to become the command's controlling terminal
  int drain_out = -1, drain_err = -1;  // read ends, read into nothing after a release
  int group_join = -1;                 // cgroup.procs
  int group_kill = -1;                 // cgroup.kill
  int group_parent = -1;               // where group_name is removed at the end
  const char* group_name = nullptr;
  int kept[kMaxKept] = {};  // the descriptors above, ascending; all others are closed
  size_t kept_count = 0;
};

// With every signal blocked.
[[noreturn]] void keep(const Orders& orders);

}  // namespace sandglass::proc
