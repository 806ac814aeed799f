/* What abi_bench.cc needs of the plugin (by dlsym) and of the peer. */
#ifndef COUNTING_H
#define COUNTING_H

#include <sandglass/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif
sg_status direct_on_event(void* self, sg_call* call, const sg_event* event);
#ifdef __cplusplus
}
#endif

#endif
