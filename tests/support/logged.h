// The log as text, every category of it.
#pragma once

#include <mutex>
#include <string>

#include "base/log.h"

namespace sandglass::testing {

// While it lives, log lines go here: "<category>: <text>\n".
class Logged {
 public:
  Logged() {
    log::show_categories({"all"});
    log::replace_sink([this](log::Level, std::string_view category, std::string_view text) {
      std::lock_guard lock(mutex_);
      text_.append(category).append(": ").append(text) += '\n';
    });
  }
  ~Logged() {
    log::replace_sink(nullptr);
    log::show_categories({});
  }
  std::string text() const {
    std::lock_guard lock(mutex_);
    return text_;
  }
  size_t count(const std::string& what) const {
    const std::string all = text();
    size_t found = 0;
    for (size_t at = all.find(what); at != std::string::npos; at = all.find(what, at + 1)) found++;
    return found;
  }

 private:
  mutable std::mutex mutex_;
  std::string text_;
};

}  // namespace sandglass::testing
