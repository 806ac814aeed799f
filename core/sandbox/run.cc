#include "sandbox/run.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"

namespace sandglass::sandbox {

std::string_view name_of(RunState state) {
  switch (state) {
    case RunState::pending:
      return "pending";
    case RunState::running:
      return "running";
    case RunState::completed:
      return "completed";
    case RunState::failed:
      return "failed";
    case RunState::cancelled:
      return "cancelled";
  }
  return "failed";
}

std::string make_run_id() {
  return "run-" + random_hex(8);
}

std::string shown_command(const std::vector<std::string>& argv) {
  std::string out;
  for (const std::string& arg : argv) {
    if (!out.empty()) out += ' ';
    const bool plain =
        !arg.empty() &&
        arg.find_first_not_of(
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%_+=:,./-") ==
            std::string::npos;
    if (plain) {
      out += arg;
      continue;
    }
    out += '\'';
    for (char c : arg) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    out += '\'';
  }
  return shown(out);
}

static std::string start_json(const RunRequest& request) {
  JsonWriter w;
  w.open('{').key("runId").value(request.run_id).key("threadId").value(request.thread_id);
  w.key("command").value(shown_command(request.exec.argv)).close('}');
  return w.take();
}

static std::string end_json(const RunResult& result, const Error* error) {
  JsonWriter w;
  w.open('{').key("runId").value(result.run_id).key("state").value(name_of(result.state));
  if (error)
    w.key("error").value(error->text);
  else if (result.exit.how == SG_EXIT_SIGNAL)
    w.key("signal").value(result.exit.value);
  else
    w.key("exitCode").value(result.exit.value);
  w.key("durationMs").value(result.duration_ns / 1'000'000).close('}');
  return w.take();
}

static int remaining_ms(int64_t end) {
  const int64_t left = (end - mono_ns()) / 1'000'000;
  return left > 0 ? static_cast<int>(left) : 0;
}

Result<RunResult> run(Sandbox& box, RunRequest request, ExecIo& io, Cancellation& cancel) {
  if (request.run_id.empty()) request.run_id = make_run_id();
  if (request.exec.cwd.empty()) request.exec.cwd = box.record().root;
  request.exec.tag = request.run_id;

  RunResult result;
  result.run_id = request.run_id;
  const std::string command = shown_command(request.exec.argv), labels = "{}";
  sg_run abi{};
  abi.struct_size = sizeof abi;
  abi.id = {request.run_id.c_str(), request.run_id.size()};
  abi.thread_id = {request.thread_id.c_str(), request.thread_id.size()};
  abi.command = {command.c_str(), command.size()};
  abi.labels = {labels.c_str(), labels.size()};
  abi.start_ns = wall_ns();

  (void)box.journal().sync(10'000);
  result.first_seq = box.journal().last_seq() + 1;
  box.append(EventKind::run_start, "sandbox.run.start", start_json(request), request.run_id);
  result.state = RunState::running;
  const int64_t began = mono_ns();
  Attribution& attribution = box.attribution();
  attribution.run_begins(request.run_id);
  ExecIo own_io = io;
  own_io.started = [&](int pid) {
    attribution.run_process(request.run_id, pid);
    if (io.started) io.started(pid);
  };
  auto ended = box.provider().exec(box.record().provider_id, request.exec, own_io, cancel, &abi);
  result.duration_ns = mono_ns() - began;

  Error error;
  if (ended) {
    result.exit = *ended;
    result.state = RunState::completed;
  } else {
    error = ended.error();
    result.timed_out = error.fault == Fault::timeout;
    result.state = error.fault == Fault::cancelled ? RunState::cancelled : RunState::failed;
  }
  const int64_t end = mono_ns() + 30'000'000'000;
  (void)box.settle(remaining_ms(end));
  attribution.run_ends(request.run_id);
  box.drain_hooks(10'000);
  box.append(EventKind::run_end, "sandbox.run.end", end_json(result, ended ? nullptr : &error),
             request.run_id);
  if (Status kept = box.journal().sync(10'000); !kept)
    log::error("not all of the run is in the journal: " + kept.error().text);
  result.last_seq = box.journal().last_seq();
  if (!ended && !result.timed_out && result.state != RunState::cancelled)
    return tl::unexpected(std::move(error));
  return result;
}

}  // namespace sandglass::sandbox
