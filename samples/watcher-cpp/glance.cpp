// glance: a watcher that looks at the whole tree every `interval:`, for places where the kernel
// tells of nothing. It only tells the host where to look; the host alone decides what happened
// there.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <sandglass/plugin.hpp>
#include <string>

#include "tree.h"

namespace {

using sandglass::Call;
using sandglass::Error;
using sandglass::WatchSink;
using sandglass::WatchTarget;

class Glance {
 public:
  explicit Glance(sandglass::Host host) : host_(host) {}

  void probe(Call, WatchTarget target) {
    if (target.local_root().empty())
      throw Error(SG_E_UNSUPPORTED, "glance needs a workspace that this machine can see");
    const std::string root(target.local_root());
    if (::access(root.c_str(), R_OK | X_OK) < 0)
      throw Error(SG_E_NOT_FOUND, root + " cannot be read: " + std::strerror(errno));
  }

  void run(Call call, WatchTarget target, WatchSink sink) {
    probe(call, target);
    const std::string id(target.sandbox_id());
    const auto tree = std::make_shared<Tree>(host_, target, sink);
    {
      const std::lock_guard lock(mutex_);
      if (!trees_.emplace(id, tree).second) throw Error(SG_E_BUSY, "it is watched already");
    }
    const std::shared_ptr<void> at_the_end(nullptr, [&](void*) {
      tree->end();
      const std::lock_guard lock(mutex_);
      trees_.erase(id);
    });
    tree->look(true);
    sink.ready();
    // sleep() throws when the call is cancelled, and that ends this function.
    while (!call.sleep(static_cast<int>(target.interval_ms()))) tree->look();
  }

  // After this look, each change made before the call has been told.
  void flush(Call, std::string_view sandbox_id) {
    if (const auto tree = find(std::string(sandbox_id))) return tree->look();
    throw Error(SG_E_NOT_FOUND, "this sandbox is not watched");
  }

 private:
  std::shared_ptr<Tree> find(const std::string& id) {
    const std::lock_guard lock(mutex_);
    const auto it = trees_.find(id);
    return it == trees_.end() ? nullptr : it->second;
  }

  const sandglass::Host host_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Tree>> trees_;  // by sandbox id
};

}  // namespace

SANDGLASS_PLUGIN_ABOUT("com.example.glance", "0.1.0", "Apache-2.0", nullptr,
                       sandglass::watcher<Glance>("glance",
                                                  "Looks at the whole tree, again and again"))
