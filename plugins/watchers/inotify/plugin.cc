// The table of the inotify watcher.
#include <sandglass/plugin.h>
#include <sys/inotify.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "../common/foreign.h"
#include "../common/table.h"
#include "run.h"

namespace inotify_watcher {
namespace {

using watcher_common::guarded;
using watcher_common::say;
using Table = watcher_common::Watcher<Run>;

sg_status probe(void* self, sg_call* call, const sg_watch_target* target) {
  const sg_host* host = static_cast<Table*>(self)->host;
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

const sg_watcher kMethods = {sizeof(sg_watcher), 0, Table::run, probe, Table::flush};

const sg_type kType = {sizeof(sg_type),
                       SG_TYPE_CONCURRENT,
                       SG_KIND_WATCHER,
                       "inotify",
                       "sees changes through the kernel's inotify, without rights",
                       R"({"type":"object","additionalProperties":false})",
                       &kMethods,
                       Table::create,
                       Table::destroy,
                       nullptr};

const sg_type* const kTypes[] = {&kType, nullptr};

}  // namespace
}  // namespace inotify_watcher

const sg_plugin sg_plugin_v1 = {sizeof(sg_plugin),           SG_ABI_MAJOR, SG_ABI_MINOR, 0,
                                "sandglass.watcher-inotify", "0.1.0",      "MIT",        "",
                                inotify_watcher::kTypes};
