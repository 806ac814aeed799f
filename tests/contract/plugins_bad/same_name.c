/* Offers a type that good.c offers too (case P2). */
#define TINY_NAME "good"
#define TINY_ID "test.other"
#include "tiny.h"
