/* A function where the table should be. */
__attribute__((visibility("default"))) int sg_plugin_v1(void);
int sg_plugin_v1(void) { return 0; }
