// Hook `command`: any program, one event a run.
#include <cstring>

#include "event_json.h"

namespace {

using sandglass::Call;
using sandglass::Config;
using sandglass::Error;
using sandglass::Event;
using sandglass::Host;

constexpr size_t kKept = 64 * 1024;  // bytes of output
constexpr size_t kShown = 300;       // of its last line

// The program's input and output while it runs.
struct Pipes {
  sg_io io{};
  std::string_view input;
  std::string output;  // the last kKept bytes of both streams
  uint64_t printed = 0;

  explicit Pipes(std::string_view line) : input(line) {
    io.struct_size = sizeof io;
    io.read_fd = -1;
    io.write = [](sg_io* self, int32_t, const void* data, size_t len) -> sg_status {
      auto& me = *reinterpret_cast<Pipes*>(self);
      me.printed += len;
      me.output.append(static_cast<const char*>(data), len);
      if (me.output.size() > 2 * kKept) me.output.erase(0, me.output.size() - kKept);
      return SG_OK;
    };
    io.read = [](sg_io* self, void* data, size_t room, size_t* len) -> sg_status {
      auto& me = *reinterpret_cast<Pipes*>(self);
      *len = std::min(room, me.input.size());
      std::memcpy(data, me.input.data(), *len);
      me.input.remove_prefix(*len);
      return SG_OK;
    };
  }
};

std::string last_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  text.erase(0, text.rfind('\n') + 1);
  if (text.size() > kShown) {
    size_t end = kShown;  // not within a character
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) end--;
    text.resize(end);
  }
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return text;
}

class Command {
 public:
  static constexpr const char* config_schema = R"({
    "type": "object", "required": ["run"], "additionalProperties": false,
    "properties": {
      "run": {"type": "array", "minItems": 1, "items": {"type": "string"},
              "description": "The program and its arguments; no shell"},
      "include": {"type": "array", "items": {"enum": ["before", "after", "diff"]},
                  "description": "Contents to put into the event"}}})";

  Command(Host host, const Config& config)
      : host_(host), process_(host.service<sg_process_service>(SG_SERVICE_PROCESS)) {
    if (!process_) throw Error(SG_E_UNSUPPORTED, "this host starts no processes for plugins");
    for (size_t i = 0; i < config.count("/run"); i++)
      run_.emplace_back(config.text(("/run/" + std::to_string(i)).c_str()));
    for (size_t i = 0; i < config.count("/include"); i++)
      include_.emplace_back(config.text(("/include/" + std::to_string(i)).c_str()));
  }

  void on_event(Call call, const Event& event) {
    const std::string line = event_json(event, include_);
    Pipes pipes(line);
    sg_exit ended{};
    ended.struct_size = sizeof ended;
    const sg_status status = start(call, event, pipes, ended);
    const std::string end = last_line(pipes.output);
    if (!end.empty() && host_.logs(SG_LOG_DEBUG)) host_.debug(run_[0] + ": " + end);
    if (status == SG_E_TIMEOUT)
      throw Error(status,
                  "'" + run_[0] + "' ran into the time limit; its whole process tree was ended");
    if (status != SG_OK)
      throw Error(status, "'" + run_[0] + "' could not be run" + (end.empty() ? "" : ": " + end));
    if (ended.how == SG_EXIT_CODE && ended.value == 0) return;
    throw Error(SG_E_FAILED, how(ended) + (end.empty() ? "" : ": " + end) +
                                 (pipes.printed > kKept
                                      ? " (printed " + std::to_string(pipes.printed) + " bytes)"
                                      : ""));
  }

 private:
  sg_status start(Call call, const Event& event, Pipes& pipes, sg_exit& ended) {
    auto bytes = [](const std::string& s) {
      return sg_bytes{reinterpret_cast<const uint8_t*>(s.data()), s.size()};
    };
    std::vector<sg_bytes> argv;
    for (const std::string& arg : run_) argv.push_back(bytes(arg));
    const std::string id = "SANDGLASS_EVENT=" + std::string(event.id());
    const sg_bytes env = bytes(id);
    const std::string tag = "hook-" + std::string(event.id()) + "-" + std::to_string(++started_);
    sg_exec exec{};
    exec.struct_size = sizeof exec;
    exec.flags = SG_EXEC_STDIN;
    exec.argv = argv.data();
    exec.argc = argv.size();
    exec.env = &env;
    exec.envc = 1;
    exec.tag = {tag.data(), tag.size()};
    return process_->run(host_.abi(), call.abi(), &exec, &pipes.io, &ended);
  }

  std::string how(const sg_exit& ended) const {
    const std::string name = "'" + run_[0] + "'";
    switch (ended.how) {
      case SG_EXIT_SIGNAL:
        return name + " was ended by signal " + std::to_string(ended.value);
      case SG_EXIT_NOT_FOUND:
        return name + (ended.value == ENOENT ? " was not found (" : " cannot be run (") +
               std::strerror(ended.value) + ")";
      case SG_EXIT_BAD_CWD:
        return name + " had no directory to run in";
      default:
        return name + " ended with exit code " + std::to_string(ended.value);
    }
  }

  Host host_;
  const sg_process_service* process_;
  std::vector<std::string> run_, include_;
  uint64_t started_ = 0;
};

}  // namespace

SANDGLASS_PLUGIN_ABOUT(
    "sandglass.command", "1.0.0", "Apache-2.0", nullptr,
    sandglass::hook<Command>("command", "Runs a program with each event as JSON on its stdin"))
