// What floors above lend to a plugin's instance.
#pragma once

#include <sandglass/plugin.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace sandglass::plugin {

// Runs a command in a sandbox; why it failed is noted on the call.
using Exec = std::function<sg_status(sg_call*, std::string_view sandbox_id, const sg_exec*, sg_io*,
                                     sg_exit*)>;
// One for a directory of this machine that is no sandbox: the command starts there, whatever its
// cwd says, and is looked up in the absolute parts of PATH alone.
Exec exec_in(std::string directory);
// When a command that a plugin asked for is ended: with its call, and within two minutes.
int64_t lent_deadline(const sg_call* call);

// Functions, so that nothing points up. An empty one is a service that is not offered: the plugin
// sees a null slot, or no service at all. They are called on the plugin's threads, by many at once.
// The process service is always there (core/proc).
struct HostServices {
  std::function<void(sg_call*, const sg_event*, uint32_t which, sg_content*)> content;
  std::function<sg_status(sg_call*, const sg_event*, uint32_t which, sg_out*)> stream;
  std::function<void(const sg_event*)> retain, release;
  std::function<sg_status(std::string_view sandbox_id, std::string_view topic,
                          std::string_view json)>
      emit;
  std::function<sg_status(std::string_view sandbox_id, std::string_view run_id,
                          std::string_view reason)>
      end_run;
  Exec exec;
  std::function<sg_status(sg_call*, std::string_view sandbox_id, sg_bytes path, uint64_t offset,
                          uint64_t max_bytes, sg_out*)>
      read;
  // A child of the process service was started; before its first instruction.
  std::function<void(int pid)> started;
  // How far a plugin's long work is; without it a line is logged once a second at most.
  std::function<void(sg_call*, uint64_t done, uint64_t total, std::string_view what)> progress;
};

}  // namespace sandglass::plugin
