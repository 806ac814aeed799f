/* May not share a process with the host. */
#define TINY_NAME "needs-process"
#define TINY_FLAGS SG_TYPE_NEEDS_PROCESS
#include "tiny.h"
