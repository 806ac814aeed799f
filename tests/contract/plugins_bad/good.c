/* Nothing is wrong with this one. */
#define TINY_NAME "good"
#include "tiny.h"
