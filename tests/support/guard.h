// The process around a test program. It is the subreaper of whatever the program starts, so nothing
// gets away by losing its parent, and like init it reaps what was given to it. The program gets a
// TMPDIR of its own, which also stands for the user's state and configuration folders.
#pragma once

#include <sys/types.h>

#include <functional>

namespace sandglass::testing {

// Runs `body` in a child. When it has ended, nothing may be left: neither a process nor a file in
// TMPDIR; what is left is named on stderr, ended or removed, and makes the exit code 1. Otherwise
// the exit code is body's, and where a signal ended it that signal ends the caller too. One thread
// only. $SANDGLASS_TEST_GUARD=0: runs it right here, for a debugger.
int run_guarded(const std::function<int()>& body);

// The guard's pid inside `body`, 0 without one.
pid_t guard_pid();

}  // namespace sandglass::testing
