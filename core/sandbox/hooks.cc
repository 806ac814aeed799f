#include "sandbox/hooks.h"

#include <sandglass/plugin.h>

#include "base/text.h"

namespace sandglass::sandbox {

static uint64_t mask_of(config::HookPoint point) {
  auto bit = [](EventKind kind) { return uint64_t{1} << static_cast<uint32_t>(kind); };
  switch (point) {
    case config::HookPoint::file:
      return SG_EV_FILES;
    case config::HookPoint::file_create:
      return bit(EventKind::file_create);
    case config::HookPoint::file_change:
      return bit(EventKind::file_change);
    case config::HookPoint::file_delete:
      return bit(EventKind::file_delete);
    case config::HookPoint::ready:
      return bit(EventKind::ready);
    case config::HookPoint::error:
      return bit(EventKind::error);
    case config::HookPoint::destroy:
      return bit(EventKind::destroy);
  }
  return 0;
}

Result<std::vector<Handler>> make_handlers(const plugin::Registry& registry, Journal& journal,
                                           const std::shared_ptr<Attribution>& attribution,
                                           const std::vector<config::HookBinding>& bindings) {
  std::vector<Handler> out;
  for (const config::HookBinding& binding : bindings) {
    auto type = registry.find(SG_KIND_HOOK, binding.use.name);
    if (!type) {
      Error error = type.error();
      if (const std::string place = binding.use.place.text(); !place.empty())
        error.text = place + ": " + error.text;
      return tl::unexpected(std::move(error));
    }
    plugin::HostServices services = event_services(journal);
    services.started = [attribution, name = binding.name](int pid) {
      attribution->hook_process(name, pid);
    };
    auto instance =
        plugin::Instance::create(**type, binding.name, binding.use.with, std::move(services));
    if (!instance) return tl::unexpected(instance.error());
    out.push_back({binding.name,
                   std::move(*instance),
                   {mask_of(binding.point)},
                   binding.timeout_ns,
                   binding.durable});
  }
  return out;
}

}  // namespace sandglass::sandbox
