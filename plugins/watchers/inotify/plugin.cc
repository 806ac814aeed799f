// The table of the inotify watcher.
#include <sandglass/plugin.h>
#include <sys/inotify.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "../common/foreign.h"
#include "run.h"

namespace inotify_watcher {
namespace {

struct Watcher {
  const sg_host* host;
  std::mutex mutex;
  std::unordered_map<std::string, std::shared_ptr<Run>> runs;  // by sandbox id
};

sg_status say(const sg_host* host, sg_call* call, sg_status status, const std::string& text) {
  return host->fail(host, call, status, 0, sg_str{"", 0}, sg_str{text.data(), text.size()});
}

// Nothing may unwind into the host.
template <class F>
sg_status guarded(const sg_host* host, sg_call* call, F&& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return SG_E_NO_MEMORY;
  } catch (const std::exception& e) {
    return say(host, call, SG_E_FAILED, e.what());
  }
}

sg_status create(const sg_host* host, sg_call* call, const sg_config*, void** self) {
  return guarded(host, call, [&] {
    *self = new Watcher{host, {}, {}};
    return SG_OK;
  });
}

void destroy(void* self) {
  delete static_cast<Watcher*>(self);
}

sg_status run(void* self, sg_call* call, const sg_watch_target* target, sg_watch_sink* sink) {
  Watcher& watcher = *static_cast<Watcher*>(self);
  return guarded(watcher.host, call, [&] {
    const std::string id(target->sandbox_id.data, target->sandbox_id.len);
    const auto one = std::make_shared<Run>(watcher.host, call, target, sink);
    {
      std::lock_guard lock(watcher.mutex);
      if (!watcher.runs.emplace(id, one).second)
        return say(watcher.host, call, SG_E_BUSY, "sandbox " + id + " is watched already");
    }
    const sg_status status = one->run();
    std::lock_guard lock(watcher.mutex);
    watcher.runs.erase(id);
    return status;
  });
}

sg_status probe(void* self, sg_call* call, const sg_watch_target* target) {
  const sg_host* host = static_cast<Watcher*>(self)->host;
  return guarded(host, call, [&] {
    if (target->local_root.len == 0)
      return say(host, call, SG_E_UNSUPPORTED,
                 "inotify needs a workspace that this machine can see");
    const std::string root(reinterpret_cast<const char*>(target->local_root.data),
                           target->local_root.len);
    struct statfs fs {};
    if (::statfs(root.c_str(), &fs) < 0)
      return say(host, call, SG_E_NOT_FOUND, "cannot watch " + root + ": " + std::strerror(errno));
    if (const char* type = watcher_common::foreign(fs))
      return say(
          host, call, SG_E_UNSUPPORTED,
          root + " is on " + type + ", where inotify does not hear of changes from the other side");
    const Fd fd(::inotify_init1(IN_CLOEXEC));
    if (!fd)
      return say(host, call, SG_E_FAILED,
                 std::string("cannot start inotify: ") + std::strerror(errno) +
                     "; see fs.inotify.max_user_instances (sysctl)");
    return sg_status{SG_OK};
  });
}

sg_status flush(void* self, sg_call* call, sg_str sandbox_id) {
  Watcher& watcher = *static_cast<Watcher*>(self);
  return guarded(watcher.host, call, [&] {
    std::shared_ptr<Run> one;
    {
      std::lock_guard lock(watcher.mutex);
      auto it = watcher.runs.find(std::string(sandbox_id.data, sandbox_id.len));
      if (it != watcher.runs.end()) one = it->second;
    }
    return one ? one->flush(call) : sg_status{SG_E_NOT_FOUND};
  });
}

const sg_watcher kMethods = {sizeof(sg_watcher), 0, run, probe, flush};

const sg_type kType = {sizeof(sg_type),
                       SG_TYPE_CONCURRENT,
                       SG_KIND_WATCHER,
                       "inotify",
                       "sees changes through the kernel's inotify, without rights",
                       R"({"type":"object","additionalProperties":false})",
                       &kMethods,
                       create,
                       destroy,
                       nullptr};

const sg_type* const kTypes[] = {&kType, nullptr};

}  // namespace
}  // namespace inotify_watcher

const sg_plugin sg_plugin_v1 = {sizeof(sg_plugin),           SG_ABI_MAJOR, SG_ABI_MINOR, 0,
                                "sandglass.watcher-inotify", "0.1.0",      "MIT",        "",
                                inotify_watcher::kTypes};
