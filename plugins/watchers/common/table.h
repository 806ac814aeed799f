// The functions of a watcher that has one Run per sandbox:
//
//   struct Run {
//     Run(const sg_host*, sg_call*, const sg_watch_target*, sg_watch_sink*);
//     sg_status run();                // its own thread
//     sg_status flush(sg_call* call); // any thread, also when run() is about to return
//   };
#pragma once

#include <sandglass/plugin.h>

#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <unordered_map>

namespace watcher_common {

inline sg_status say(const sg_host* host, sg_call* call, sg_status status,
                     const std::string& text) {
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

template <class Run>
struct Watcher {
  const sg_host* host;
  std::mutex mutex;
  std::unordered_map<std::string, std::shared_ptr<Run>> runs;  // by sandbox id

  static sg_status create(const sg_host* host, sg_call* call, const sg_config*, void** self) {
    return guarded(host, call, [&] {
      *self = new Watcher{host, {}, {}};
      return SG_OK;
    });
  }

  static void destroy(void* self) { delete static_cast<Watcher*>(self); }

  static sg_status run(void* self, sg_call* call, const sg_watch_target* target,
                       sg_watch_sink* sink) {
    Watcher& watcher = *static_cast<Watcher*>(self);
    return guarded(watcher.host, call, [&] {
      const std::string id(target->sandbox_id.data, target->sandbox_id.len);
      const auto one = std::make_shared<Run>(watcher.host, call, target, sink);
      {
        std::lock_guard lock(watcher.mutex);
        if (!watcher.runs.emplace(id, one).second)
          return say(watcher.host, call, SG_E_BUSY, "sandbox " + id + " is watched already");
      }
      const std::shared_ptr<void> at_the_end(nullptr, [&](void*) {
        std::lock_guard lock(watcher.mutex);
        watcher.runs.erase(id);
      });
      return one->run();
    });
  }

  static sg_status flush(void* self, sg_call* call, sg_str sandbox_id) {
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
};

}  // namespace watcher_common
