// One call into a plugin: its deadline, how it is cancelled, and why it failed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

struct sg_call;
struct sg_run;

namespace sandglass::plugin {

// Belongs to the thread that makes the call; cancel() is for any thread. Outlives the plugin's
// function.
class Call {
 public:
  struct Options {
    std::string sandbox_id;
    int64_t deadline_ns = 0;  // mono_ns()'s clock; 0 is none
    const sg_run* run = nullptr;
    // This one is made while that one runs, on its thread, and ends with it.
    const sg_call* within = nullptr;
  };
  explicit Call(Options options);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  sg_call* abi();
  void cancel();  // makes cancel_fd readable
  bool cancelled() const;

  // What the plugin said through host->fail(), or a sentence made from the status.
  Error error(int32_t status) const;
  uint32_t fail_flags() const;  // SG_FAIL_*

  // Notes on another call why it is about to fail, as host->fail() does; the status to return.
  static int32_t explain(sg_call* call, const Error& error);

  struct State;  // what sg_call points into; host.cc fills it
 private:
  std::unique_ptr<State> state_;
};

}  // namespace sandglass::plugin
