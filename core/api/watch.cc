#include "api/definition.h"
#include "watch/choose.h"

namespace sandglass::api {

Result<Watching> watch(const WatchRequest& request, watch::Sink sink) {
  auto directory = watchable(request.directory, request.all_of_it);
  if (!directory) return tl::unexpected(directory.error());
  Watching out;
  out.directory = *directory;
  out.registry = std::make_unique<plugin::Registry>();
  auto instance = watch::choose_watcher(*out.registry, request.watcher, config::Value::make_map());
  if (!instance) return tl::unexpected(instance.error());
  out.watcher = (*instance)->type().name;
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
