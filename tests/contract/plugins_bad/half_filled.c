/* A hook that takes no event (case P7). */
#define TINY_NAME "half-filled"
#define TINY_ON_EVENT NULL
#include "tiny.h"
