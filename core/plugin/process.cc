// The process service: children of plugins are children of the host, ended and reaped by core/proc.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/clock.h"
#include "plugin/abi.h"
#include "plugin/call_state.h"
#include "plugin/callbacks.h"
#include "plugin/host.h"
#include "proc/child.h"

namespace sandglass::plugin {
namespace {

constexpr size_t kMostArguments = 65536;
constexpr int64_t kLentExecNs = 120'000'000'000;  // a box that hangs is given up then

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

// The failure is noted on `call`.
sg_status run_child(uint64_t owner, sg_call* call, const sg_exec& exec, sg_io* io, sg_exit* exit,
                    int64_t deadline_ns, const std::function<void(int pid)>& tell_host) {
  const auto spawn = spawn_of(exec, owner);
  if (!spawn) return Call::explain(call, spawn.error());
  proc::Limits limits;
  limits.deadline_ns = deadline_ns;
  if (call) limits.cancel_fd = call->cancel_fd;
  Feed feed(io, *spawn, tell_host);
  const auto ended = proc::run(*spawn, feed.io(), limits);
  if (!ended) return Call::explain(call, ended.error());
  if (exit) give_exit(exit, *ended);
  return feed.status();
}

sg_status run(const sg_host* host, sg_call* call, const sg_exec* exec, sg_io* io, sg_exit* exit) {
  Callbacks callbacks(host, call);
  const sg_status status = guarded(host, call, [&]() -> sg_status {
    SafeIo safe(io, callbacks);
    return run_child(Host::of(host).number(), call, adopt<sg_exec>(exec), safe.abi(), exit,
                     call ? static_cast<int64_t>(call->deadline_ns) : 0,
                     Host::of(host).services().started);
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

// A search path of relative parts would find programs of the directory itself.
std::string absolute_path_variable() {
  const char* given = std::getenv("PATH");
  std::string_view rest = given ? given : "/usr/local/bin:/usr/bin:/bin";
  std::string out;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    if (part.starts_with('/')) out += (out.empty() ? "" : ":") + std::string(part);
  }
  return "PATH=" + out;
}

}  // namespace

int64_t lent_deadline(const sg_call* call) {
  const int64_t end = mono_ns() + kLentExecNs;
  const int64_t own = call ? static_cast<int64_t>(call->deadline_ns) : 0;
  return own ? std::min(own, end) : end;
}

Exec exec_in(std::string directory) {
  return [directory = std::move(directory)](sg_call* call, std::string_view, const sg_exec* given,
                                            sg_io* io, sg_exit* exit) {
    auto exec = adopt<sg_exec>(given);
    const std::string path = absolute_path_variable();
    std::vector<sg_bytes> env{bytes(path)};
    for (size_t i = 0; exec.env && i < exec.envc; i++) env.push_back(exec.env[i]);
    exec.env = env.data();
    exec.envc = env.size();
    exec.cwd = bytes(directory);
    return run_child(0, call, exec, io, exit, lent_deadline(call), nullptr);
  };
}

const sg_process_service process_service = {sizeof(sg_process_service), 0, run, signal, resize};

}  // namespace sandglass::plugin
