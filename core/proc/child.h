// One child process of the host and everything it starts: spawned, tagged, limited, streamed,
// ended as a whole, reaped. Providers and hooks reach it as the ABI's sandglass.process/1.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sandglass::proc {

struct Spawn {
  std::vector<std::string> argv;  // run without a shell; argv[0] is looked up in the child's PATH
  std::vector<std::string> env;  // "NAME=value", added to (and winning over) the host's environment
  std::string cwd;               // empty: the host's
  std::string tag;               // put into the child's environment as SANDGLASS_TAG
  uint64_t owner = 0;            // whose call it is; tags of different owners never meet
  bool tty = false;              // a terminal of rows x columns; stderr joins stdout
  bool with_input = false;       // feed Io::input; else the child reads end-of-file
  uint32_t rows = 24, columns = 80;
};

enum class Ended : uint32_t { code = 0, signal = 1, not_found = 2, bad_cwd = 3 };  // as SG_EXIT_*

struct Exit {
  Ended how = Ended::code;
  int32_t value = 0;       // exit code, signal number, or (not_found, bad_cwd) errno
  bool core = false;       // left a core dump
  uint32_t survivors = 0;  // processes of the call that still run, left on purpose
};

// All functions are called on the thread that called run(). One that blocks must return soon after
// the call's deadline or its cancellation, for that thread also ends the tree.
struct Io {
  // Once, before the command's first instruction, so that no act of it is missed. The pidfd is
  // borrowed until started() returns. Also called when it then turns out not to be found. May be
  // null.
  std::function<void(int pid, int pidfd)> started;
  // Set before started(): id of a version 2 control group that holds this call alone, or 0.
  uint64_t cgroup_id = 0;
  // stream is 1 or 2. False ends the delivery of that stream; the child may write on, into nothing.
  // May block: the child then waits (nothing is kept beyond its pipe and one read of 64 KiB).
  std::function<bool(int stream, std::string_view bytes)> output;
  // Fills `room` with input and returns the count; 0 is the end. Called only when input_fd is
  // readable, or, where input_fd is -1, when the child's stdin takes bytes.
  std::function<size_t(std::span<char> room)> input;
  int input_fd = -1;
};

struct Limits {
  int64_t deadline_ns = 0;  // on mono_ns()'s clock; 0 is none
  int cancel_fd = -1;       // readable: end the tree
};

// Runs a child to its end. Returns when the command itself has exited and its output was delivered:
// all that was in the pipes by then, and what background children add within 200 ms more. At the
// deadline (Fault::timeout) or on cancel (Fault::cancelled) the whole tree is ended first: TERM,
// then KILL after a grace of 500 ms, also those that left the process group or the session; all
// within 3 s. A call that is late or cancelled at the start runs nothing. Always reaps; processes
// that the command leaves behind are reaped when they end, whenever that is. Should the host die
// while run() is active, the tree dies with it. Any thread, many at once. SIGPIPE is blocked for
// the calling thread meanwhile.
Result<Exit> run(const Spawn& what, Io& io, const Limits& limits);

// Both reach the command of a call of this owner with this tag, from Io::started until it has
// ended; else Fault::not_found. Any thread.

// Sends a signal to its process group; 0 asks only whether it runs.
Status signal_tagged(uint64_t owner, std::string_view tag, int signo);
// Gives its terminal another size, of which the kernel tells its foreground. Fault::invalid where
// it has no terminal.
Status resize_tagged(uint64_t owner, std::string_view tag, uint32_t rows, uint32_t columns);

}  // namespace sandglass::proc
