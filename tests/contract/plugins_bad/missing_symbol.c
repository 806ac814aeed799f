/* Calls what no library has (case P1). */
#define TINY_NAME "missing-symbol"
#define TINY_INTERESTS (uint64_t)not_to_be_found_anywhere()
int not_to_be_found_anywhere(void);
#include "tiny.h"
