/* A plugin that does next to nothing, in a shared object as real ones are. */
#include "counting.h"

#include <sandglass/plugin.h>

static const sg_host* lent;

static uint64_t interests(void* self) {
  (void)self;
  return SG_EV_ALL;
}

static sg_status on_event(void* self, sg_call* call, const sg_event* event) {
  (void)call;
  *(uint64_t*)self += event->seq;
  return SG_OK;
}

static sg_status on_batch(void* self, sg_call* call, const sg_event* const* events, size_t count,
                          size_t* accepted) {
  size_t i;
  (void)call;
  for (i = 0; i < count; i++) *(uint64_t*)self += events[i]->seq;
  *accepted = count;
  return SG_OK;
}

static sg_status create(const sg_host* host, sg_call* call, const sg_config* config, void** self) {
  static uint64_t sum;
  (void)call;
  (void)config;
  lent = host;
  *self = &sum;
  return SG_OK;
}

static void destroy(void* self) {
  (void)self;
}

SG_EXPORT const sg_host* bench_host(void);
const sg_host* bench_host(void) {
  return lent;
}

static const sg_hook hook = {sizeof(sg_hook), 0, interests, on_event, on_batch, NULL};
static const sg_type type = {sizeof(sg_type), 0,      SG_KIND_HOOK, "counting", "Counts", NULL,
                             &hook,           create, destroy,      NULL};
static const sg_type* const types[] = {&type, NULL};

SG_EXPORT extern const sg_plugin sg_plugin_v1;
const sg_plugin sg_plugin_v1 = {
    sizeof(sg_plugin), SG_ABI_MAJOR, SG_ABI_MINOR, 0, "bench.counting", "1.0.0", NULL, NULL, types};
