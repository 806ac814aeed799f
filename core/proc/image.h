// The keeper program, carried inside the host.
#pragma once

#include "base/fd.h"
#include "base/result.h"

namespace sandglass::proc {

// A sealed file in memory that holds the program, made once per process; the descriptor lives as
// long as the process. Any thread.
Result<int> keeper_image();

// A file in memory with these bytes, at most for reading by the keeper.
Result<Fd> memory_file(std::string_view bytes);

}  // namespace sandglass::proc
