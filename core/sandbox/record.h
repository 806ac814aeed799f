// A sandbox's record as the JSON text of its file.
#pragma once

#include <string>

#include "base/result.h"
#include "sandbox/store.h"

namespace sandglass::sandbox {

std::string record_to_json(const InstanceRecord& record);
// Fault::corrupt where it is none. What an older version did not write has its default.
Result<InstanceRecord> record_from_json(const std::string& text);

}  // namespace sandglass::sandbox
