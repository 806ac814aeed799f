// One run: a command (an agent) executed in a sandbox.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sandbox/sandbox.h"

namespace sandglass::sandbox {

enum class RunState { pending, running, completed, failed, cancelled };
std::string_view name_of(RunState state);

struct RunRequest {
  std::string run_id, thread_id;  // run_id is made when empty
  Exec exec;                      // cwd empty: the workspace root
};

struct RunResult {
  std::string run_id;
  RunState state = RunState::pending;
  ExecExit exit;
  bool timed_out = false;
  uint64_t first_seq = 0, last_seq = 0;  // from RUN_START to RUN_END
  int64_t duration_ns = 0;
};

std::string make_run_id();
// As a shell would show it, for people and logs; control characters escaped.
std::string shown_command(const std::vector<std::string>& argv);

// Runs to the end. RUN_START is journaled before the command starts; RUN_END after everything it
// wrote was journaled and the hooks were drained (rules H6, W8). An error is a fault of ours: the
// command did not run, or was not seen to its end; RUN_END says so as well. Several may run in one
// sandbox at once, each on a thread of its own.
Result<RunResult> run(Sandbox& box, RunRequest request, ExecIo& io, Cancellation& cancel);

}  // namespace sandglass::sandbox
