// The table of the fanotify watcher.
#include <sandglass/plugin.h>

#include <string>

#include "../common/table.h"
#include "probe.h"
#include "run.h"

namespace fanotify_watcher {
namespace {

using watcher_common::guarded;
using watcher_common::say;
using Table = watcher_common::Watcher<Run>;

sg_status probe(void* self, sg_call* call, const sg_watch_target* target) {
  const sg_host* host = static_cast<Table*>(self)->host;
  return guarded(host, call, [&] {
    if (target->local_root.len == 0)
      return say(host, call, SG_E_UNSUPPORTED,
                 "fanotify needs a workspace that this machine can see; use a polling watcher");
    const std::string root(reinterpret_cast<const char*>(target->local_root.data),
                           target->local_root.len);
    std::string why;
    return open_group(root, why) ? sg_status{SG_OK} : say(host, call, SG_E_UNSUPPORTED, why);
  });
}

const sg_watcher kMethods = {sizeof(sg_watcher), 0, Table::run, probe, Table::flush};

const sg_type kType = {sizeof(sg_type),
                       SG_TYPE_CONCURRENT | SG_TYPE_OWN_THREADS,
                       SG_KIND_WATCHER,
                       "fanotify",
                       "sees changes and who made them, through the kernel's fanotify, as root",
                       R"({"type":"object","additionalProperties":false})",
                       &kMethods,
                       Table::create,
                       Table::destroy,
                       nullptr};

const sg_type* const kTypes[] = {&kType, nullptr};

}  // namespace
}  // namespace fanotify_watcher

const sg_plugin sg_plugin_v1 = {sizeof(sg_plugin),
                                SG_ABI_MAJOR,
                                SG_ABI_MINOR,
                                0,
                                "sandglass.watcher-fanotify",
                                "0.1.0",
                                "MIT",
                                "",
                                fanotify_watcher::kTypes};
