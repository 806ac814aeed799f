// What a test may leave behind, and does not: processes, descriptors, threads, temporary files.
// leftovers.cc looks after every test of every test program (main.cc).
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

namespace sandglass::testing {

enum class Left { process, descriptor, thread, file };

// In a test that cannot be without: `kind` is not looked at when this test ends. `why` is printed.
void may_leave(Left kind, const std::string& why);

struct Process {
  pid_t parent = 0;
  char state = '?';
  std::string what;  // the command line, or the name of one that has none
};
// Everything that has one of these as its parent. A zombie counts.
std::map<pid_t, Process> children_of(const std::vector<pid_t>& parents);
std::string text_of(pid_t pid, const Process& process);

// How long what is ending has time to end: 5 s, or $SANDGLASS_TEST_GRACE_MS.
int grace_ms();

}  // namespace sandglass::testing
