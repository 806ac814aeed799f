// Watches one directory and prints a JSON line per event, in the form that the watcher bench reads:
//   watch_lines --root DIR --ignore a,b --watcher inotify
// SIGTERM or SIGINT: one last flush and comparison, then the end.
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "base/fd.h"
#include "base/json.h"
#include "base/text.h"
#include "plugin/registry.h"
#include "watch/session.h"

using namespace sandglass;

namespace {

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    if (end > at) parts.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

const char* name_of(watch::ChangeKind kind) {
  switch (kind) {
    case watch::ChangeKind::create:
      return "create";
    case watch::ChangeKind::change:
      return "change";
    default:
      return "delete";
  }
}

void print(const std::vector<watch::FileChange>& batch) {
  std::string lines;
  for (const watch::FileChange& one : batch) {
    JsonWriter line;
    line.open('{');
    if (one.kind == watch::ChangeKind::rescan) {
      line.key("overflow").value(true);
    } else {
      line.key("type").value(name_of(one.kind));
      if (is_utf8(one.path))
        line.key("path").value(one.path);
      else
        line.key("path_b64").value(base64(one.path));
      line.key("t_ns").value(one.seen_ns);
    }
    line.close('}');
    lines += line.take();
    lines += '\n';
  }
  if (auto written = write_all(STDOUT_FILENO, lines); !written) ::_exit(1);
}

int fail_with(const std::string& text) {
  JsonWriter line;
  line.open('{').key("error").value(text).close('}');
  std::printf("%s\n", line.text().c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  watch::Target target;
  target.sandbox_id = "lines";
  std::string watcher = "inotify";
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    if (option == "--root") target.local_root = argv[i + 1];
    if (option == "--watcher") watcher = argv[i + 1];
    if (option == "--ignore") target.ignore = split(argv[i + 1]);
  }
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  Fd signalled(::signalfd(-1, &signals, SFD_CLOEXEC));

  plugin::Registry registry({{SANDGLASS_PLUGINS "/watcher-" + watcher + ".so", "", "watch_lines"}});
  auto type = registry.find(SG_KIND_WATCHER, watcher);
  if (!type) return fail_with(type.error().text);
  auto instance = plugin::Instance::create(**type, watcher, config::Value{}, {});
  if (!instance) return fail_with(instance.error().text);
  auto session = watch::Session::start(*instance, target, print, 60'000);
  if (!session) return fail_with(session.error().text);
  const std::string state = (*session)->state_json();
  if (state.find("polling") != std::string::npos) fail_with(state);
  std::printf("{\"ready\":true}\n");
  std::fflush(stdout);
  wait_fd(signalled.get(), 1, -1);
  (*session)->stop(10'000);
  return 0;
}
