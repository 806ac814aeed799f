#include <sandglass/plugin.h>

#include "api/definition.h"

namespace sandglass::api {

Result<Watching> watch(const WatchRequest& request, watch::Sink sink) {
  auto directory = watchable(request.directory, request.all_of_it);
  if (!directory) return tl::unexpected(directory.error());
  Watching out;
  out.directory = *directory;
  out.watcher = request.watcher == "auto" ? "inotify" : request.watcher;
  out.registry = std::make_unique<plugin::Registry>();
  auto type = out.registry->find(SG_KIND_WATCHER, out.watcher);
  if (!type) return tl::unexpected(type.error());
  auto instance = plugin::Instance::create(**type, out.watcher, config::Value::make_map(), {});
  if (!instance) return tl::unexpected(instance.error());
  watch::Target target;
  target.sandbox_id = "watch";
  target.local_root = out.directory;
  target.ignore = request.ignore;
  target.interval_ms = static_cast<int>(request.interval_ns / 1'000'000);
  auto session =
      watch::Session::start(std::move(*instance), std::move(target), std::move(sink), 60'000);
  if (!session) return tl::unexpected(session.error());
  out.session = std::move(*session);
  return out;
}

}  // namespace sandglass::api
