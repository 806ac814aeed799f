// Commands in the sandbox that is watched, and what they said.
#pragma once

#include <sandglass/plugin.hpp>
#include <string>
#include <vector>

namespace poll {

using Argv = std::vector<std::string>;

// How a command ended, where it could be run at all.
struct Said {
  uint32_t how = SG_EXIT_CODE;  // SG_EXIT_*
  int32_t value = 0;
  std::string out, err;
  bool cut = false;  // err was longer than what is kept
  bool well() const { return how == SG_EXIT_CODE && value == 0; }
};

// Any thread, one command at a time for each call.
class Box {
 public:
  // Throws SG_E_UNSUPPORTED where the host runs nothing for this watcher.
  Box(sandglass::Host host, sandglass::WatchTarget target);

  // The root, for people.
  const std::string& where() const { return where_; }

  // Words go to the program as they are, without a shell. The command starts in the root and speaks
  // the C locale. Throws where it could not be run to its end.
  Said run(sandglass::Call call, const Argv& argv) const;

 private:
  const sandglass::Host host_;
  const sg_sandbox_service* const service_;
  const std::string sandbox_id_, root_, where_, tag_;
};

// Bytes for people.
std::string shown(std::string_view text);
// One line for people of what a command said last, escaped and cut.
std::string last_words(const Said& said);

}  // namespace poll
