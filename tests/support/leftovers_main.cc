// leftovers COMMAND [ARGUMENT]...: runs a test that is no GoogleTest program, and fails where it
// leaves a process or a temporary file behind.
#include <unistd.h>

#include <cstdio>

#include "support/guard.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: leftovers COMMAND [ARGUMENT]...\n");
    return 2;
  }
  return sandglass::testing::run_guarded([&]() -> int {
    ::execvp(argv[1], argv + 1);
    std::perror(argv[1]);
    return 127;
  });
}
