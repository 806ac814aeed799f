// Where the process table hears of forks, execs and exits. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "base/result.h"

namespace sandglass::proc {

constexpr size_t kCommandBytes = 1024;

struct ProcessEvent {
  enum class Kind : uint32_t { fork = 0, exec = 1, exit = 2, lost = 3 };
  Kind kind = Kind::lost;
  int32_t pid = 0, ppid = 0;   // ppid: of a fork
  int64_t at_ns = 0;           // on mono_ns()'s clock
  std::string_view arguments;  // of an exec, each ended by NUL; empty: ask /proc
};

class ProcessSource {
 public:
  virtual ~ProcessSource() = default;
  // Readable when drain() is to be called, at the latest before events are lost.
  virtual int fd() const = 0;
  // Hands over everything that is queued, in order.
  virtual void drain(const std::function<void(const ProcessEvent&)>& take) = 0;
};

// Programs on the scheduler's tracepoints: exact, with command lines. Needs CAP_BPF and
// CAP_PERFMON, the kernel's type information, and the first pid namespace.
Result<std::unique_ptr<ProcessSource>> open_bpf_source();
// The netlink process connector: as exact, but the command line has to be read before the process
// is gone. Needs CAP_NET_ADMIN in the first user and pid namespace.
Result<std::unique_ptr<ProcessSource>> open_connector_source();

}  // namespace sandglass::proc
