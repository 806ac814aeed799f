// Keepers that outlive their run() because processes were left running on purpose.
#pragma once

#include "base/fd.h"

namespace sandglass::proc {

// Waits for the child behind the pidfd and forgets it. One thread does so for all of them; it is
// there only while it has something to wait for. Any thread.
void reap_later(Fd pidfd);

// Waits at most this long for the child to end and reaps it; false when it still runs.
bool reap_within(const Fd& pidfd, int timeout_ms);

}  // namespace sandglass::proc
