/* Needs a library that is not where the loader looks (case P5). */
#define TINY_NAME "missing-library"
#define TINY_INTERESTS (uint64_t)from_the_library()
int from_the_library(void);
#include "tiny.h"
