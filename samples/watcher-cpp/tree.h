// One watched tree: what was there at the last look, and telling the host where it differs now.
#pragma once

#include <map>
#include <mutex>
#include <sandglass/plugin.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "look.h"

// run() and the host's flush() use it at once, on different threads.
class Tree {
 public:
  Tree(sandglass::Host host, sandglass::WatchTarget target, sandglass::WatchSink sink);
  // Looks at all of it and tells what differs. The first look only learns what is there.
  void look(bool first = false);
  // Nothing is told any more: the sink is the host's only until run() returns.
  void end();

 private:
  using Looks = std::map<std::string, Look>;  // by path below the root; "" is the root itself
  Looks walk() const;
  void walk(int fd, const std::string& below, Looks& looks) const;
  void compare_unsettled(const Looks& now, int64_t began);
  void tell(const std::string& path, const Look& look, uint32_t flags);
  void send();

  const sandglass::Host host_;
  const std::string root_;
  const sandglass::WatchSink sink_;
  std::set<std::string, std::less<>> ignored_;
  std::mutex mutex_;
  bool over_ = false;
  Looks seen_;
  // Names that may have been written to since with the same time stamps, and their bytes' hash.
  std::map<std::string, uint64_t> unsettled_;
  std::vector<std::pair<std::string, sg_hint>> hints_;
};
