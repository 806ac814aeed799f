/* Aborts in a constructor; it could exit there as well, so it is tried first (case P7). */
#include <stdlib.h>
#define TINY_NAME "aborts-at-load"
#include "tiny.h"

__attribute__((constructor)) static void end(void) {
  if (getenv("HOME")) abort();
  exit(3);
}
