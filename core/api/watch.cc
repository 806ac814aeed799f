#include "api/definition.h"
#include "watch/choose.h"

namespace sandglass::api {

Result<Watching> watch(const WatchRequest& request, watch::Sink sink) {
  auto directory = watchable(request.directory, request.all_of_it);
  if (!directory) return tl::unexpected(directory.error());
  Watching out;
  out.directory = *directory;
  out.registry = std::make_unique<plugin::Registry>();
  watch::Target target;
  target.sandbox_id = "watch";
  target.local_root = out.directory;
  target.ignore = request.ignore;
  target.interval_ms = static_cast<int>(request.interval_ns / 1'000'000);
  watch::Wanted wanted;
  wanted.name = request.watcher;
  wanted.services.exec = plugin::exec_in(out.directory);  // there is no provider
  auto started = watch::start_watcher(*out.registry, std::move(wanted), std::move(target), sink);
  if (!started) return tl::unexpected(started.error());
  out.watcher = std::move(started->watcher);
  out.session = std::move(started->session);
  return out;
}

}  // namespace sandglass::api
