/* Exports a helper of the same name as the other twin; each must reach its own (case P2). */
#define TINY_NAME "twin-a"
#define TINY_INTERESTS (uint64_t)helper()
__attribute__((visibility("default"))) int helper(void);
int helper(void) { return 1; }
#include "tiny.h"
