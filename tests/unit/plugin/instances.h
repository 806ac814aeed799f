// Instances of test plugins, and what they log.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "base/log.h"
#include "files.h"
#include "plugin/instance.h"

namespace sandglass::plugin {

// Collects what is logged while it lives: "error errors text".
class LogLines {
 public:
  LogLines() {
    log::replace_sink([this](log::Level level, std::string_view category, std::string_view text) {
      static constexpr const char* kLevels[] = {"trace", "debug", "info", "warn", "error"};
      std::lock_guard lock(mutex_);
      lines_.push_back(std::string(kLevels[static_cast<int>(level)]) + " " + std::string(category) +
                       " " + std::string(text));
    });
  }
  ~LogLines() { log::replace_sink(nullptr); }
  std::vector<std::string> take() {
    std::lock_guard lock(mutex_);
    return std::exchange(lines_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;  // under mutex_
};

// A registry with some of the test plugins; kept for the whole program, as instances point into it.
inline const Registry& test_plugins() {
  static const Registry* registry = new Registry([] {
    std::vector<PluginFile> files;
    for (const char* name :
         {"good", "throws", "trial", "needs_process", "exits", "late", "blocks", "lingering"})
      files.push_back({bad_plugin(name), {}, {}});
    return files;
  }());
  return *registry;
}

inline const Type& hook_type(const std::string& name) {
  const auto type = test_plugins().find(SG_KIND_HOOK, name);
  if (!type) throw std::runtime_error(type.error().text);
  return **type;
}

// A value as if it stood in line `line` of test.yaml.
inline config::Value placed(config::Value value, int line) {
  value.place.file = std::make_shared<const std::string>("test.yaml");
  value.place.line = line;
  value.place.column = 5;
  return value;
}

inline config::Value with(const std::string& key, config::Value value) {
  config::Value map = config::Value::make_map();
  map.set(key, placed(std::move(value), 3));
  return map;
}

inline sg_str text_of(const std::string& text) {
  return {text.data(), text.size()};
}

inline sg_event file_event(uint32_t kind, const std::string& relative) {
  sg_event event{};
  event.struct_size = sizeof event;
  event.kind = kind;
  event.relative = {reinterpret_cast<const uint8_t*>(relative.data()), relative.size()};
  return event;
}

}  // namespace sandglass::plugin
