// The process service: children of plugins are children of the host, ended and reaped by core/proc.
#include <algorithm>
#include <cstring>

#include "plugin/abi.h"
#include "plugin/call_state.h"
#include "plugin/callbacks.h"
#include "plugin/host.h"
#include "proc/child.h"

namespace sandglass::plugin {
namespace {

constexpr size_t kMostArguments = 65536;

// What a plugin's sg_exec says, or why it cannot be run.
Result<proc::Spawn> spawn_of(const sg_exec& exec, uint64_t owner) {
  proc::Spawn out;
  out.owner = owner;
  if (exec.argc == 0 || !exec.argv) return fail(Fault::invalid, "no command: argv is empty");
  if (exec.argc > kMostArguments || exec.envc > kMostArguments)
    return fail(Fault::invalid, "more than 65536 arguments or variables");
  const auto take = [](const sg_bytes* list, size_t count, std::vector<std::string>& to) {
    for (size_t i = 0; i < count; i++) to.emplace_back(view(list[i]));
    return std::none_of(to.begin(), to.end(),
                        [](const std::string& s) { return s.find('\0') != s.npos; });
  };
  out.cwd = view(exec.cwd);
  out.tag = view(exec.tag);
  if (!take(exec.argv, exec.argc, out.argv) || (exec.env && !take(exec.env, exec.envc, out.env)) ||
      out.cwd.find('\0') != out.cwd.npos || out.tag.find('\0') != out.tag.npos)
    return fail(Fault::invalid, "a NUL byte in a command, its environment, folder or tag");
  out.tty = (exec.flags & SG_EXEC_TTY) != 0;
  out.with_input = (exec.flags & SG_EXEC_STDIN) != 0;
  if (exec.rows) out.rows = exec.rows;
  if (exec.columns) out.columns = exec.columns;
  return out;
}

// Feeds a plugin's sg_io; the first status it answers other than SG_OK ends that direction.
class Feed {
 public:
  Feed(sg_io* io, const proc::Spawn& what, const std::function<void(int pid)>& tell_host)
      : io_(io), table_(io ? *io : sg_io{}) {
    if (table_.started || tell_host)
      out_.started = [this, tell = tell_host](int pid, int pidfd) {
        if (tell) tell(pid);
        if (!table_.started) return;
        sg_started started{};
        started.struct_size = sizeof started;
        started.pid = pid;
        started.pidfd = pidfd;
        started.cgroup_id = out_.cgroup_id;
        note(table_.started(io_, &started));
      };
    out_.output = [this](int stream, std::string_view bytes) {
      return !table_.write || note(table_.write(io_, stream, bytes.data(), bytes.size()));
    };
    if (!what.with_input || !table_.read) return;
    out_.input = [this](std::span<char> room) -> size_t {
      size_t len = 0;
      return note(table_.read(io_, room.data(), room.size(), &len)) ? std::min(len, room.size())
                                                                    : 0;
    };
    out_.input_fd = table_.read_fd;
  }

  proc::Io& io() { return out_; }
  sg_status status() const { return status_; }

 private:
  bool note(sg_status status) {
    if (status_ == SG_OK) status_ = status;
    return status == SG_OK;
  }
  sg_io* io_;
  sg_io table_;
  proc::Io out_;
  sg_status status_ = SG_OK;
};

void give_exit(sg_exit* out, const proc::Exit& exit) {
  sg_exit full{};
  full.struct_size = out->struct_size;
  full.how = static_cast<uint32_t>(exit.how);
  full.value = exit.value;
  full.flags = exit.core ? static_cast<uint32_t>(SG_EXITF_CORE) : 0;
  full.survivors = exit.survivors;
  std::memcpy(out, &full, std::min<size_t>(out->struct_size, sizeof full));
}

sg_status run(const sg_host* host, sg_call* call, const sg_exec* exec, sg_io* io, sg_exit* exit) {
  Callbacks callbacks(host, call);
  const sg_status status = guarded(host, call, [&]() -> sg_status {
    const auto spawn = spawn_of(adopt<sg_exec>(exec), Host::of(host).number());
    if (!spawn) return fail_call(host, call, SG_E_INVALID, 0, {}, spawn.error().text);
    proc::Limits limits;
    if (call) limits.deadline_ns = static_cast<int64_t>(call->deadline_ns);
    if (call) limits.cancel_fd = call->cancel_fd;
    SafeIo safe(io, callbacks);
    Feed feed(safe.abi(), *spawn, Host::of(host).services().started);
    const auto ended = proc::run(*spawn, feed.io(), limits);
    if (!ended)
      return fail_call(host, call, status_of(ended.error().fault), 0, {}, ended.error().text);
    if (exit) give_exit(exit, *ended);
    return feed.status();
  });
  callbacks.finish();
  return status;
}

sg_status signal(const sg_host* host, sg_str tag, int32_t signo) {
  return guarded(host, nullptr, [&] {
    const Status done = proc::signal_tagged(Host::of(host).number(), view(tag), signo);
    return done ? sg_status{SG_OK} : status_of(done.error().fault);
  });
}

sg_status resize(const sg_host* host, sg_str tag, uint32_t rows, uint32_t columns) {
  return guarded(host, nullptr, [&] {
    const Status done = proc::resize_tagged(Host::of(host).number(), view(tag), rows, columns);
    return done ? sg_status{SG_OK} : status_of(done.error().fault);
  });
}

}  // namespace

const sg_process_service process_service = {sizeof(sg_process_service), 0, run, signal, resize};

}  // namespace sandglass::plugin
