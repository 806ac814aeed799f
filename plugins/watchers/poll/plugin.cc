// poll: sees changes by looking at the whole tree again and again, with the tools of the sandbox.
#include <map>
#include <memory>
#include <mutex>
#include <sandglass/plugin.hpp>
#include <string>

#include "run.h"

namespace {

using sandglass::Call;
using sandglass::Error;
using sandglass::WatchSink;
using sandglass::WatchTarget;

class Poll {
 public:
  static constexpr uint32_t flags = SG_TYPE_CONCURRENT | SG_TYPE_LISTS;
  static constexpr const char* config_schema =
      R"({"type": "object", "properties": {}, "additionalProperties": false})";

  explicit Poll(sandglass::Host host) : host_(host) {}

  void probe(Call call, WatchTarget target) {
    const poll::Box box(host_, target);
    (void)poll::Find(box, call, {});
  }

  void run(Call call, WatchTarget target, WatchSink sink) {
    const std::string id(target.sandbox_id());
    const auto one = std::make_shared<poll::Run>(host_, target, sink);
    {
      const std::lock_guard lock(mutex_);
      if (!runs_.emplace(id, one).second) throw Error(SG_E_BUSY, "it is watched already");
    }
    const std::shared_ptr<void> at_the_end(nullptr, [&](void*) {
      const std::lock_guard lock(mutex_);
      runs_.erase(id);
    });
    one->run(call);
  }

  void flush(Call call, std::string_view sandbox_id) {
    if (const auto one = find(std::string(sandbox_id))) return one->flush(call);
    throw Error(SG_E_NOT_FOUND, "this sandbox is not watched");
  }

 private:
  std::shared_ptr<poll::Run> find(const std::string& id) {
    const std::lock_guard lock(mutex_);
    const auto it = runs_.find(id);
    return it == runs_.end() ? nullptr : it->second;
  }

  const sandglass::Host host_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<poll::Run>> runs_;  // by sandbox id
};

}  // namespace

SANDGLASS_PLUGIN_ABOUT(
    "sandglass.watcher-poll", "0.1.0", "MIT", nullptr,
    sandglass::watcher<Poll>("poll", "looks at the whole tree again and again, with find"))
