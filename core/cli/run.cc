#include <sandglass/plugin.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

#include "api/operations.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/signals.h"
#include "cli/terminal.h"
#include "event/stream.h"

namespace sandglass::cli {
namespace {

struct Options {
  api::RunRequest request;
  std::string time_limit;
  bool json = false;
};

size_t read_stdin(std::span<char> room) {
  ssize_t n;
  do n = ::read(0, room.data(), room.size());
  while (n < 0 && errno == EINTR);
  return n > 0 ? static_cast<size_t>(n) : 0;
}

std::string header(const api::RunReady& ready) {
  std::string line = "  sandbox " + ready.sandbox_id + "  " + ready.provider;
  if (ready.resumed) line += " (resumed)";
  line += ", watcher " + (ready.watcher.empty() ? std::string("off") : ready.watcher);
  const git::Baseline& baseline = ready.baseline;
  if (baseline.snapshot && !baseline.tree.empty())
    line += ", baseline the files as they are now";
  else if (!baseline.commit.empty())
    line += ", baseline " + baseline.commit.substr(0, 7) +
            (baseline.branch.empty() ? "" : " (" + shown(baseline.branch) + ")");
  else if (baseline.kind == git::BaselineKind::no_commit)
    line += ", baseline empty (no commit yet)";
  else
    line += ", no baseline (not a git workspace)";
  return line;
}

std::string seconds(int64_t ns) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s", static_cast<double>(ns) / 1e9);
  return text;
}

std::string signal_name(int number) {
  const char* name = ::sigabbrev_np(number);
  return name ? "SIG" + std::string(name) : "signal " + std::to_string(number);
}

std::string ending(const sandbox::RunResult& result) {
  if (result.timed_out) return "time limit";
  if (result.state == sandbox::RunState::cancelled) return "stopped";
  if (result.exit.how == SG_EXIT_SIGNAL) return signal_name(result.exit.value);
  return "exit " + std::to_string(result.exit.value);
}

void summary(const api::RunReport& report) {
  std::string line =
      "  done in " + seconds(report.result.duration_ns) + ", " + ending(report.result);
  line += ": " + count_of(report.files.size(), "file");
  if (report.counted && !report.files.empty())
    line += ", +" + std::to_string(report.added) + " -" + std::to_string(report.removed);
  say(line);
  if (report.result.exit.survivors)
    say("  " + count_of(report.result.exit.survivors, "process") + " of the command still run");
  if (!report.files.empty()) say("  review: sandglass diff    events: sandglass events");
}

// The command's exit code, as a shell would give it; 124 for the time limit.
int code_of(const sandbox::RunResult& result) {
  if (result.timed_out) return 124;
  if (result.state == sandbox::RunState::cancelled) return 130;
  if (result.exit.how == SG_EXIT_SIGNAL) return 128 + result.exit.value;
  return result.exit.value;
}

// A command that never ran is a fault of ours, with its reason.
std::optional<Error> never_ran(const sandbox::RunResult& result, const api::RunRequest& request) {
  const std::string name = request.exec.argv.empty() ? "" : shown(request.exec.argv[0]);
  if (result.exit.how == SG_EXIT_NOT_FOUND)
    return Error{Fault::not_found, "cannot run " + name + ": " + std::strerror(result.exit.value) +
                                       "; check its spelling and the PATH inside the sandbox"};
  if (result.exit.how == SG_EXIT_BAD_CWD)
    return Error{Fault::not_found, "the directory to run in is gone: " + shown(request.exec.cwd)};
  return std::nullopt;
}

// The run as an AG-UI stream on stdout (rule S4).
class JsonRun {
 public:
  void ready(const api::RunReady& ready) {
    info_ = {ready.run_id, ready.thread_id};
    print_line(stream::run_started(info_, wall_ns()));
  }
  void output(int number, std::string_view bytes) {
    const std::string whole = joiner(number).push(bytes);
    if (!whole.empty()) print_line(stream::output(number, whole, wall_ns()));
  }
  void event(const Origin& origin, const Event& event, const git::Piece* patch) {
    std::string lines = stream::custom(origin, event);
    if (patch) lines += "\n" + stream::diff(origin, event, patch->bytes);
    print_line(lines);
  }
  void finished(const sandbox::RunResult& result) {
    for (int number : {1, 2})
      if (const std::string rest = joiner(number).finish(); !rest.empty())
        print_line(stream::output(number, rest, wall_ns()));
    const bool signalled = result.exit.how == SG_EXIT_SIGNAL;
    print_line(stream::run_finished(info_,
                                    result.timed_out                               ? "timeout"
                                    : result.state == sandbox::RunState::cancelled ? "cancelled"
                                                                                   : "success",
                                    code_of(result),
                                    signalled ? signal_name(result.exit.value) : "", wall_ns()));
  }
  void failed(const Error& error) {
    print_line(stream::run_error(info_, name_of(error.fault), error.text, wall_ns()));
  }

 private:
  stream::Utf8Joiner& joiner(int number) { return joiners_[number == 2]; }
  stream::RunInfo info_;
  stream::Utf8Joiner joiners_[2];
};

int run_json(Options& o, sandbox::ExecIo& io, sandbox::Cancellation& cancel) {
  JsonRun json;
  api::RunObserver observer;
  observer.ready = [&](const api::RunReady& ready) { json.ready(ready); };
  observer.output = [&](int number, std::string_view bytes) { json.output(number, bytes); };
  observer.event = [&](const Origin& origin, const Event& event, const git::Piece* patch) {
    json.event(origin, event, patch);
  };
  auto report = api::run(o.request, io, observer, cancel);
  std::optional<Error> error;
  if (!report)
    error = report.error();
  else
    error = never_ran(report->result, o.request);
  if (!error) {
    json.finished(report->result);
    return code_of(report->result);
  }
  json.failed(*error);
  print_error(*error);
  return kOurFault;
}

int run_plain(Options& o, sandbox::ExecIo& io, sandbox::Cancellation& cancel) {
  std::unique_ptr<RawMode> raw;
  api::RunObserver observer;
  observer.ready = [&](const api::RunReady& ready) {
    say(header(ready));
    for (const std::string& note : ready.notes) say("  note: " + shown(note));
    if (!o.request.exec.tty) return;
    log::hold();  // the command owns the terminal until it ends
    raw = std::make_unique<RawMode>();
  };
  observer.output = [](int number, std::string_view bytes) {
    if (number == 2)
      (void)write_all(2, bytes);
    else
      print(bytes);
  };
  auto report = api::run(o.request, io, observer, cancel);
  raw.reset();
  log::release();
  std::optional<Error> error;
  if (!report)
    error = report.error();
  else
    error = never_ran(report->result, o.request);
  if (error) {
    print_error(*error);
    return kOurFault;
  }
  summary(*report);
  return code_of(report->result);
}

int run(Options& o, Context& context) {
  if (context.rest.empty()) {
    print_error(
        {Fault::invalid,
         "there is no command to run: put it after --, as in `sandglass run -- make test`"});
    return kOurFault;
  }
  o.request.state_dir = context.state_dir;
  o.request.debug = context.debug;
  o.request.exec.argv = context.rest;
  o.request.exec.with_input = true;
  o.request.exec.tty = !o.json && is_terminal(0) && is_terminal(1);
  if (!o.time_limit.empty()) {
    auto limit = config::parse_duration(o.time_limit);
    if (!limit) return print_error(limit.error()), kOurFault;
    o.request.time_limit_ns = *limit;
  }
  sandbox::Cancellation cancel;
  uint32_t rows, columns;
  terminal_size(rows, columns);
  sandbox::TerminalSize size(rows, columns);
  StopSignals signals([&](int) { cancel.cancel(); },
                      [&] {
                        uint32_t now_rows, now_columns;
                        terminal_size(now_rows, now_columns);
                        size.set(now_rows, now_columns);
                      });
  sandbox::ExecIo io;
  io.size = &size;
  io.input = read_stdin;
  io.input_fd = 0;
  return o.json ? run_json(o, io, cancel) : run_plain(o, io, cancel);
}

}  // namespace

Command add_run(CLI::App& app, Context& context) {
  auto o = std::make_shared<Options>();
  app.add_option("--config", o->request.config, "Configuration file")->type_name("FILE");
  app.add_option("--sandbox", o->request.sandbox, "Sandbox of the configuration to use")
      ->type_name("ID");
  app.add_option("--provider", o->request.provider,
                 "Provider to use in place of the configured one")
      ->type_name("NAME");
  app.add_option("--watcher", o->request.watcher, "Watcher to use in place of the configured one")
      ->type_name("NAME");
  app.add_option("--workspace", o->request.workspace,
                 "Directory the command works in (default: here)")
      ->type_name("DIR");
  app.add_option("--thread", o->request.thread_id, "Thread id the run belongs to")->type_name("ID");
  app.add_option("--env", o->request.env, "NAME=VALUE to set for the command; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  app.add_option("--timeout", o->time_limit,
                 "End the command's whole process tree after this long, such as 10m")
      ->type_name("TIME");
  app.add_flag("--keep", o->request.keep,
               "Keep the box at the end, also when the run is stopped (lifecycle: reuse: thread)");
  app.add_flag("--diff", o->request.diff, "Show each event's patch against the baseline");
  app.add_flag("--json", o->json, "The run's events and output as AG-UI lines on stdout");
  app.add_flag("--yes-all-of-it", o->request.all_of_it,
               "Allow a home directory or / as the workspace");
  app.footer(
      "sandglass run [OPTIONS] -- COMMAND [ARG...]\n\n"
      "Runs COMMAND and shows every file it creates, changes or deletes, compared with the git "
      "commit\n"
      "at the start. Its own output passes through; lines of sandglass go to stderr.\n"
      "Exit code: the command's own (128+n for a signal, 124 for the time limit), 125 for a fault "
      "of\n"
      "sandglass, whose kind is then the first word on stderr.\n\n"
      "Example: sandglass run -- sh -c 'sed -i s/colour/color/ src/style.c'");
  return [o, &context] { return run(*o, context); };
}

}  // namespace sandglass::cli
