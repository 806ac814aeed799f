/* Ends the process in a constructor (case P7). */
#include <stdlib.h>
#define TINY_NAME "exits-at-load"
#include "tiny.h"

__attribute__((constructor)) static void end(void) {
  exit(3);
}
