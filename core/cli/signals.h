// Ctrl-C and its kin. Once stops and cleans up, twice stops now.
#pragma once

#include <functional>
#include <thread>

namespace sandglass::cli {

// Blocks SIGINT, SIGTERM and SIGHUP for the whole process and ignores SIGPIPE. Call first in
// main().
void block_signals();

// Waits for those signals on a thread of its own: the first calls `stop` (on that thread), the
// second ends the process with 128 + its number.
class StopSignals {
 public:
  explicit StopSignals(std::function<void(int signal)> stop);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

 private:
  int end_fd_ = -1;
  std::thread thread_;
};

}  // namespace sandglass::cli
