// What makes a sandbox the same sandbox (rule L4).
#pragma once

#include <string>

#include "config/definition.h"

namespace sandglass::sandbox {

// 128 bits in hex over the definition (id, provider, workspace), the directory and the thread; ""
// without a definition: such a sandbox is used once. Secrets, hooks and watching do not count.
std::string key_of(const config::Definition& definition, const std::string& workspace,
                   const std::string& thread);

// "shop" of the definition's id or of /home/ann/Shop: what a file name, a log line and a URL all
// take.
std::string stem_of(const config::Definition& definition, const std::string& workspace);

}  // namespace sandglass::sandbox
