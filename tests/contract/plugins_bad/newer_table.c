/* Its table is of another major than its symbol says. */
#define TINY_NAME "newer-table"
#define TINY_MAJOR 3
#include "tiny.h"
