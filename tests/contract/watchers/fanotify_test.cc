// What only fanotify can do: one group for many sandboxes, and who wrote.
#include "contract/watchers/session_fixture.h"

namespace sandglass::watch::testing {}
