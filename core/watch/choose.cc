#include "watch/choose.h"

#include <sandglass/plugin.h>
#include <sys/stat.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"

namespace sandglass::watch {
namespace {

constexpr size_t kMostSaid = 4096;  // of what a command says on stderr

// A command's last words, kept for its failure.
struct Words : sg_io {
  std::string text;
  Words() : sg_io{} {
    struct_size = sizeof(sg_io);
    read_fd = -1;
    write = [](sg_io* io, int32_t stream, const void* data, size_t len) -> sg_status {
      auto& me = *static_cast<Words*>(io);
      const size_t room = kMostSaid - me.text.size();
      if (stream == 2) me.text.append(static_cast<const char*>(data), std::min(len, room));
      return SG_OK;
    };
  }
};

sg_bytes bytes_of(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

Status run_in_box(const plugin::Exec& exec, const Target& target,
                  const std::vector<std::string>& argv, int64_t deadline_ns) {
  static const std::string tag = "sandglass-watch";
  std::vector<sg_bytes> words;
  for (const std::string& word : argv) words.push_back(bytes_of(word));
  sg_exec what{};
  what.struct_size = sizeof what;
  what.argv = words.data();
  what.argc = words.size();
  what.cwd = bytes_of(target.root);
  what.tag = {tag.data(), tag.size()};
  Words io;
  sg_exit end{};
  end.struct_size = sizeof end;
  plugin::Call call({target.sandbox_id, deadline_ns, nullptr});
  const sg_status status = exec(call.abi(), target.sandbox_id, &what, &io, &end);
  if (status != SG_OK) return tl::unexpected(call.error(status));
  if (end.how == SG_EXIT_CODE && end.value == 0) return {};
  return fail(Fault::failed, argv[0] + " failed in the sandbox: " +
                                 (io.text.empty() ? "it said nothing" : shown(io.text)));
}

// Events of a file system that others write to as well are read and thrown away one by one: a
// watcher of whole file systems comes first only where there is nobody else.
bool is_own_file_system(const std::string& root) {
  struct stat st {
  }, above{};
  return !root.empty() && ::stat(root.c_str(), &st) == 0 &&
         ::stat((root + "/..").c_str(), &above) == 0 && st.st_dev != above.st_dev;
}

std::vector<std::string> chain_of(const std::string& name, const Target& target) {
  std::vector<std::string> chain = {"fanotify", "inotify", "poll"};
  if (name == "auto") {
    if (!is_own_file_system(target.local_root)) std::swap(chain[0], chain[1]);
    return chain;
  }
  auto at = std::find(chain.begin(), chain.end(), name);
  if (at != chain.end())
    chain.erase(chain.begin(), at);
  else
    chain[0] = name;
  return chain;
}

Status probe(const plugin::Instance& watcher, const Target& target, int64_t deadline_ns) {
  const auto methods = watcher.methods<sg_watcher>();
  std::vector<sg_bytes> ignore;
  for (const std::string& name : target.ignore) ignore.push_back(bytes_of(name));
  sg_watch_target abi{};
  abi.struct_size = sizeof abi;
  abi.interval_ms = static_cast<uint32_t>(std::max(target.interval_ms, 1));
  abi.sandbox_id = {target.sandbox_id.data(), target.sandbox_id.size()};
  abi.root = bytes_of(target.root);
  abi.local_root = bytes_of(target.local_root);
  abi.ignore = ignore.data();
  abi.ignore_count = ignore.size();
  plugin::Call call({target.sandbox_id, deadline_ns, nullptr});
  return watcher.call(call, [&](void* self) { return methods.probe(self, call.abi(), &abi); });
}

std::string reasons(const std::vector<Choice::Passed>& passed) {
  std::string text;
  for (const Choice::Passed& one : passed)
    text += (text.empty() ? "" : "; ") + one.watcher + ": " + one.reason;
  return text;
}

// The rest of a failure is about what to do instead, which is done here.
std::string why_of(const std::string& name, const std::vector<Choice::Passed>& passed) {
  if (!passed.empty())
    return (name == "auto" ? "the best that can be had here" : "in place of " + name);
  return name == "auto" ? "the first choice here, and it proved itself" : "asked for by name";
}

void say_choice(const std::string& name, const std::string& taken,
                const std::vector<Choice::Passed>& passed) {
  if (passed.empty()) return;
  if (name == "auto")
    log::info("watching by " + taken + ", because of " + reasons(passed));
  else
    log::warn("watching by " + taken + ", not by " + name + ": " + reasons(passed));
}

class Chooser {
 public:
  Chooser(const plugin::Registry& registry, Wanted wanted, Target target, const Sink& sink)
      : registry_(registry),
        wanted_(std::move(wanted)),
        target_(std::move(target)),
        sink_(sink),
        deadline_ns_(mono_ns() + int64_t{wanted_.timeout_ms} * 1'000'000) {
    if (!target_.run && wanted_.services.exec)
      target_.run = [exec = wanted_.services.exec, target = target_](
                        const std::vector<std::string>& argv, int64_t deadline_ns) {
        return run_in_box(exec, target, argv, deadline_ns);
      };
  }

  Result<Started> start() {
    for (const std::string& name : chain_of(wanted_.name, target_)) {
      auto type = registry_.find(SG_KIND_WATCHER, name);
      if (!type && name == wanted_.name && name != "fanotify") return tl::unexpected(type.error());
      if (!type && name != wanted_.name) continue;  // it does not ship here
      auto session = type ? attempt(**type, name) : tl::unexpected(type.error());
      if (session) {
        say_choice(wanted_.name, name, choice_.passed);
        return Started{std::move(*session), name};
      }
      if (session.error().fault == Fault::config) return tl::unexpected(session.error());
      choice_.passed.push_back({name, session.error().text});
    }
    return fail(Fault::unsupported, "no watcher can be had: " + reasons(choice_.passed));
  }

 private:
  Result<std::unique_ptr<Session>> attempt(const plugin::Type& type, const std::string& name) {
    static const config::Value none = config::Value::make_map();
    auto instance = plugin::Instance::create(type, name, name == wanted_.name ? wanted_.with : none,
                                             wanted_.services);
    if (!instance) return tl::unexpected(instance.error());
    if (auto able = probe(**instance, target_, deadline_ns_); !able)
      return tl::unexpected(able.error());
    choice_.why = why_of(wanted_.name, choice_.passed);
    const int64_t left_ms = std::max<int64_t>((deadline_ns_ - mono_ns()) / 1'000'000, 1);
    return Session::start(std::move(*instance), target_, sink_, static_cast<int>(left_ms), choice_);
  }

  const plugin::Registry& registry_;
  const Wanted wanted_;
  Target target_;
  const Sink& sink_;
  const int64_t deadline_ns_;
  Choice choice_;
};

}  // namespace

Result<Started> start_watcher(const plugin::Registry& registry, Wanted wanted, Target target,
                              const Sink& sink) {
  return Chooser(registry, std::move(wanted), std::move(target), sink).start();
}

}  // namespace sandglass::watch
