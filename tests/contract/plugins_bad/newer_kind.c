/* Offers only a kind that this host has never heard of. */
#define TINY_NAME "newer-kind"
#define TINY_KIND "sandglass.sink/1"
#include "tiny.h"
