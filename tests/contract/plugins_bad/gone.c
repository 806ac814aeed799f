/* The library that missing_library.c does not find. */
__attribute__((visibility("default"))) int from_the_library(void);
int from_the_library(void) { return 1; }
