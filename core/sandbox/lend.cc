// What a watcher may ask of the box of its sandbox.
#include "base/text.h"
#include "sandbox/provider.h"

namespace sandglass::sandbox {
namespace {

// The box of one sandbox as a plugin of it may use it. Holds the provider's instance, so that a
// plugin that is left behind asks something that is still there.
struct Lent {
  std::shared_ptr<plugin::Instance> instance;
  sg_provider methods;
  std::string sandbox_id, id;

  sg_status ask(sg_call* call, std::string_view of,
                const std::function<sg_status(void* self, sg_call* inner)>& fn) const {
    if (of != sandbox_id)
      return plugin::Call::explain(
          call, {Fault::denied, "sandbox " + shown(of) + " is not the one it was made for"});
    plugin::Call inner({id, plugin::lent_deadline(call), call ? call->run : nullptr, call});
    const Status done = instance->call(inner, [&](void* self) { return fn(self, inner.abi()); });
    return done ? sg_status{SG_OK} : plugin::Call::explain(call, done.error());
  }
};

}  // namespace

plugin::HostServices Provider::lend(const std::string& sandbox_id, const std::string& id) const {
  const auto lent = std::make_shared<const Lent>(Lent{instance_, methods_, sandbox_id, id});
  plugin::HostServices out;
  out.exec = [lent](sg_call* call, std::string_view of, const sg_exec* exec, sg_io* io,
                    sg_exit* end) {
    const auto what = plugin::adopt<sg_exec>(exec);
    return lent->ask(call, of, [&](void* self, sg_call* inner) {
      return lent->methods.exec(self, inner, sg_str{lent->id.c_str(), lent->id.size()}, &what, io,
                                end);
    });
  };
  if (!methods_.read) return out;
  out.read = [lent](sg_call* call, std::string_view of, sg_bytes path, uint64_t offset,
                    uint64_t max_bytes, sg_out* bytes) {
    return lent->ask(call, of, [&](void* self, sg_call* inner) {
      return lent->methods.read(self, inner, sg_str{lent->id.c_str(), lent->id.size()}, path,
                                offset, max_bytes, bytes);
    });
  };
  return out;
}

}  // namespace sandglass::sandbox
