// The keeper: a small process between the host and a command. It is the subreaper of its command,
// so whatever the command starts stays below it however it detaches, and is reaped there; the host
// keeps its children's exit status to itself. Talks to the host over a SEQPACKET socket; when that
// breaks without a release it ends the tree, so a host that is killed leaves no orphans.
//
// It is a program of its own (keeper.cc), carried inside the host and started from memory: a fork
// of a host with much memory would take long and hold that memory for as long as the command runs.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sandglass::proc {

// Keeper to host.
enum class Word : int32_t {
  ready,    // with the command's pidfd attached; a = its pid. It waits at the gate.
  no_cwd,   // a = errno
  no_exec,  // a = errno
  no_fork,  // of the command or the keeper itself; a = errno
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

// What the keeper is to do: a file whose descriptor is its first argument. After this follow texts,
// each ended by NUL: the programs to try in order, the words, the environment, the directory to
// start in (empty: the host's), the name of the control group.
struct Orders {
  int32_t control = -1;
  int32_t gate = -1;                       // readable: run; end of file: do not
  int32_t in = -1, out = -1, err = -1;     // the command's 0, 1, 2
  int32_t terminal = -1;                   // to become the command's controlling terminal
  int32_t drain_out = -1, drain_err = -1;  // read ends, read into nothing after a release
  int32_t group_dir = -1;                  // a version 2 group to be born into
  int32_t group_join = -1;                 // cgroup.procs, for kernels without that
  int32_t group_kill = -1;                 // cgroup.kill
  int32_t group_parent = -1;               // where the group is removed at the end
  uint32_t programs = 0, words = 0, variables = 0;
};
constexpr size_t kOrderedDescriptors = 12;  // the first members, each -1 or 3 and more

}  // namespace sandglass::proc
