/* The header and its frozen layout, in whichever C the command line asks for; and a whole plugin,
   so that the tables can be written in it. */
#include "layout_v1.h"

static uint64_t interests(void *self) {
  (void)self;
  return SG_EV_FILES;
}

static sg_status on_event(void *self, sg_call *call, const sg_event *event) {
  (void)self;
  (void)call;
  return SG_HAS(sg_event, event, actor_state) ? SG_OK : SG_E_UNSUPPORTED;
}

static const sg_hook hook = {sizeof(sg_hook), 0, interests, on_event, NULL, NULL};

static sg_status create(const sg_host *host, sg_call *call, const sg_config *config, void **self) {
  (void)host;
  (void)call;
  (void)config;
  *self = NULL;
  return SG_OK;
}

static void destroy(void *self) { (void)self; }

static const sg_type type = {sizeof(sg_type), 0,      SG_KIND_HOOK, "none", "Does nothing",
                             NULL,            &hook,  create,       destroy, NULL};
static const sg_type *const types[] = {&type, NULL};

const sg_plugin sg_plugin_v1 = {
    sizeof(sg_plugin), SG_ABI_MAJOR, SG_ABI_MINOR, 0, "com.example.none", "1.0.0", NULL, NULL, types};
