// The copy of a baseline's objects in a pin's folder; see pin.h.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "git/pin.h"

namespace sandglass::git {

void write_pin_state(const std::string& folder, const PinState& state);

// Bytes that may be taken of the file system of `folder` without filling it.
uint64_t room_for(const std::string& folder);

struct CopySource {
  Snapshot* snapshot;
  std::string prefix;
};

// Copies what the commits need into one pack of FOLDER/objects, then removes FOLDER/links and
// writes the state. Ends early when `stop` says so, and then leaves everything as it was.
void copy_objects(const std::string& folder, const std::vector<CopySource>& sources,
                  const std::function<bool()>& stop);

}  // namespace sandglass::git
