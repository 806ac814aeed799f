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
  std::vector<std::string> env;   // "NAME=value", added to (and winning over) the host's environment
  std::string cwd;                // empty: the host's
  std::string tag;                // put into the child's environment as SANDGLASS_TAG, marks its tree
  bool tty = false;               // a terminal of rows x columns; stderr joins stdout
  bool with_input = false;        // feed Io::input; else the child reads end-of-file
  uint32_t rows = 24, columns = 80;
};

enum class Ended : uint32_t { code = 0, signal = 1, not_found = 2, bad_cwd = 3 };  // as SG_EXIT_*

struct Exit {
  Ended how = Ended::code;
  int32_t value = 0;       // exit code, signal number, or errno
  bool core = false;       // left a core dump
  uint32_t survivors = 0;  // processes of the call that still run, left on purpose
};

// All functions are called on the thread that called run().
struct Io {
  std::function<void(int pid, int pidfd)> started;  // once, before any output; may be null
  // stream is 1 or 2. False stops reading that stream (the child's writes then go nowhere).
  std::function<bool(int stream, std::string_view bytes)> output;
  // Fills `room` with input and returns the count; 0 is the end. Called only when input_fd is
  // readable, or at once where input_fd is -1.
  std::function<size_t(std::span<char> room)> input;
  int input_fd = -1;
  // Asked again whenever size_fd is readable (tty only); may be null.
  std::function<bool(uint32_t& rows, uint32_t& columns)> size;
  int size_fd = -1;
};

struct Limits {
  int64_t deadline_ns = 0;  // on mono_ns()'s clock; 0 is none
  int cancel_fd = -1;       // readable: end the tree
};

// Runs a child to its end. Returns when the command itself has exited and its output was delivered
// (output of background children that keep the pipe open is read for at most 200 ms more). At the
// deadline (Fault::timeout) or on cancel (Fault::cancelled) the whole tree is ended first: TERM, then
// KILL after a grace of 500 ms, also those that left the process group. Always reaps.
Result<Exit> run(const Spawn& what, Io& io, const Limits& limits);

// Sends a signal to the process group of a running call. Any thread.
Status signal_tagged(std::string_view tag, int signo);

}  // namespace sandglass::proc
