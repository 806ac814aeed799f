// Ctrl-C and its kin: once stops and cleans up, twice stops now. And the terminal's new size.
#pragma once

#include <functional>
#include <thread>

namespace sandglass::cli {

// Blocks SIGINT, SIGTERM, SIGHUP and SIGWINCH for the whole process and ignores SIGPIPE. Call first
// in main().
void block_signals();

// Waits for those signals on a thread of its own: the first calls `stop` (on that thread), the
// second ends the process with 128 + its number. `resized`, on the same thread, is called for each
// SIGWINCH, also for one that came since block_signals().
class StopSignals {
 public:
  explicit StopSignals(std::function<void(int signal)> stop, std::function<void()> resized = {});
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

 private:
  int end_fd_ = -1;
  std::thread thread_;
};

}  // namespace sandglass::cli
