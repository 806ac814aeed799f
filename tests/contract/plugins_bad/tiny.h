/* The least a plugin can be: a hook named TINY_NAME that does nothing. Define the macros before
   including this to break one thing. */
#ifndef TINY_H
#define TINY_H

#include <sandglass/plugin.h>

#ifndef TINY_NAME
#define TINY_NAME "tiny"
#endif
#ifndef TINY_ID
#define TINY_ID "test." TINY_NAME
#endif
#ifndef TINY_SYMBOL
#define TINY_SYMBOL sg_plugin_v1
#endif
#ifndef TINY_MAJOR
#define TINY_MAJOR SG_ABI_MAJOR
#endif
#ifndef TINY_MINOR_NEEDED
#define TINY_MINOR_NEEDED 0
#endif
#ifndef TINY_FLAGS
#define TINY_FLAGS 0
#endif
#ifndef TINY_KIND
#define TINY_KIND SG_KIND_HOOK
#endif
#ifndef TINY_INTERESTS
#define TINY_INTERESTS SG_EV_FILES
#endif
#ifndef TINY_ON_EVENT
#define TINY_ON_EVENT on_event
#endif
#ifndef TINY_HOOK_SIZE
#define TINY_HOOK_SIZE sizeof(sg_hook)
#endif

static uint64_t interests(void *self) {
  (void)self;
  return TINY_INTERESTS;
}

static inline sg_status on_event(void *self, sg_call *call, const sg_event *event) {
  (void)self;
  (void)call;
  (void)event;
  return SG_OK;
}

static sg_status create(const sg_host *host, sg_call *call, const sg_config *config, void **self) {
  (void)host;
  (void)call;
  (void)config;
  *self = NULL;
  return SG_OK;
}

static void destroy(void *self) { (void)self; }

static const sg_hook hook = {TINY_HOOK_SIZE, 0, interests, TINY_ON_EVENT, NULL, NULL};
static const sg_type type = {sizeof(sg_type), TINY_FLAGS, TINY_KIND, TINY_NAME, "Does nothing",
                             NULL,            &hook,      create,    destroy,   NULL};
static const sg_type *const types[] = {&type, NULL};

SG_EXPORT extern const sg_plugin TINY_SYMBOL;
const sg_plugin TINY_SYMBOL = {sizeof(sg_plugin), TINY_MAJOR, SG_ABI_MINOR, TINY_MINOR_NEEDED,
                               TINY_ID,           "1.0.0",    NULL,         NULL,
                               types};

#endif
