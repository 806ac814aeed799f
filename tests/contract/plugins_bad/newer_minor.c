/* Needs more of the host than there is (case P4). */
#define TINY_NAME "newer-minor"
#define TINY_MINOR_NEEDED 7
#include "tiny.h"
