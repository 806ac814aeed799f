// Files that may be written to once more without any change that a look shows: time stamps come in
// ticks, of a few milliseconds or of whole seconds. Of these the bytes' hash is kept and compared
// until the tick has passed for sure.
//
// The sandbox's clock is never asked for. The newest ctime of a look is a time that has been there,
// and how long a tick takes is counted on this machine.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "look.h"

namespace poll {

class Recent {
 public:
  // Hashes what is open; returns the paths that were written to though the look shows nothing new.
  // To be called with every look, before it is told: what is written after the hash shows next
  // time.
  std::vector<std::string> compare(const Look& look, const Box& box, sandglass::Call call);
  // "sha1sum", or empty where there is none (it is looked for when first needed).
  const std::string& tool() const { return tool_; }
  bool blind() const { return tried_ && tool_.empty(); }

 private:
  struct Stamp {
    uint64_t inode, size;
    int64_t mtime_ns, ctime_ns;
    bool operator==(const Stamp&) const = default;
  };
  struct One {
    Stamp stamp;
    uint64_t open_until_ns = 0;  // of this machine; a look that begins later is the last to hash
    bool settled = false;
    std::string hash;  // empty while unknown
  };
  using Files = std::map<std::string, One, std::less<>>;

  void find_tool(const Box& box, sandglass::Call call);
  std::map<std::string, std::string> hash(const Argv& paths, const Box& box, sandglass::Call call);
  void hash_some(const Argv& paths, const Box& box, sandglass::Call call,
                 std::map<std::string, std::string>& out);

  Files files_;
  std::string tool_;
  bool tried_ = false;
};

}  // namespace poll
