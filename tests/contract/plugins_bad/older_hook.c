/* Its table ends where an older header's ended: what follows reads as null (case P4). */
#define TINY_NAME "older-hook"
#define TINY_HOOK_SIZE (uint32_t)offsetof(sg_hook, on_batch)
#include "tiny.h"
