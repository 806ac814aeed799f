// One watched tree: what was there at the last look, and telling the host where it differs now.
#pragma once

#include <map>
#include <mutex>
#include <sandglass/plugin.hpp>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

// What shows that a name stands for something else, or was written to: inode, mode, size, times.
using Look = std::tuple<uint64_t, uint32_t, int64_t, int64_t, int64_t>;

// run() and the host's flush() use it at once, on different threads.
class Tree {
 public:
  Tree(sandglass::WatchTarget target, sandglass::WatchSink sink);
  // Looks at all of it and tells what differs. The first look only learns what is there.
  void look(bool first = false);
  // Nothing is told any more: the sink is the host's only until run() returns.
  void end();

 private:
  void walk(int fd, const std::string& below, std::map<std::string, Look>& now) const;
  void tell(const std::string& path, uint32_t flags);
  void send();

  const std::string root_;
  const sandglass::WatchSink sink_;
  std::set<std::string, std::less<>> ignored_;
  std::mutex mutex_;
  bool over_ = false;
  std::map<std::string, Look> seen_;  // by path below the root
  std::set<std::string> fresh_;       // may have been written to after the last look saw them
  std::vector<std::pair<std::string, sg_hint>> hints_;
};
