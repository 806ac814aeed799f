// Compiled for each watcher, with what the build says of it.
#include "contract/watchers/session_fixture.h"

namespace sandglass::watch::testing {

const UnderTest kUnderTest = {SANDGLASS_WATCHER, SANDGLASS_WATCHER_NAME, SANDGLASS_WATCHER_POLLS,
                              SANDGLASS_WATCHER_LOSES_NOTHING, SANDGLASS_WATCHER_NEEDS_RIGHTS};

}  // namespace sandglass::watch::testing
