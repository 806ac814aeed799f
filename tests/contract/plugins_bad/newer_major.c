/* Of a later ABI, and does something as soon as it is loaded (case P4). */
#include <stdlib.h>
#define TINY_NAME "newer-major"
#define TINY_SYMBOL sg_plugin_v2
#define TINY_MAJOR 2
#include "tiny.h"
__attribute__((constructor)) static void at_load(void) {
  setenv("SANDGLASS_TEST_CODE_RAN", "1", 1);
}
