/* Prints while it is loaded. */
#include <stdio.h>
#define TINY_NAME "prints"
#include "tiny.h"
__attribute__((constructor)) static void at_load(void) { puts("hello from a constructor"); }
