/* A hook of ABI 1.0: reads each kind of configuration value, asks for content, logs a line. */
#include <sandglass/plugin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct state {
  const sg_host* host;
  char prefix[64];
} state;

static sg_str str(const char* text) {
  const sg_str out = {text, strlen(text)};
  return out;
}

static sg_status create(const sg_host* host, sg_call* call, const sg_config* config, void** self) {
  state* me = malloc(sizeof *me);
  if (!me) return SG_E_NO_MEMORY;
  me->host = host;
  snprintf(me->prefix, sizeof me->prefix, "%s %d %d %lld ms %lld bytes %g",
           host->config_str(host, config, "/word", str("none")).data,
           (int)host->config_int(host, config, "/number", -1),
           (int)host->config_bool(host, config, "/flag", 0),
           (long long)host->config_duration_ns(host, config, "/wait", 0) / 1000000,
           (long long)host->config_size(host, config, "/room", 0),
           host->config_num(host, config, "/ratio", 0));
  if (host->cancelled(host, call)) return SG_E_CANCELLED;
  *self = me;
  return SG_OK;
}

static void destroy(void* self) {
  state* me = self;
  me->host->log(me->host, SG_LOG_INFO, NULL, str("old hook is done"));
  free(me);
}

static uint64_t interests(void* self) {
  (void)self;
  return SG_EV_FILES;
}

static sg_status on_event(void* self, sg_call* call, const sg_event* event) {
  state* me = self;
  char text[512];
  sg_content diff;
  const sg_event_service* events = me->host->service(me->host, SG_SERVICE_EVENT);
  memset(&diff, 0, sizeof diff);
  diff.struct_size = sizeof diff;
  if (!events) return me->host->fail(me->host, call, SG_E_FAILED, 0, str(""), str("no service"));
  events->content(me->host, call, event, SG_DIFF, &diff);
  snprintf(text, sizeof text, "old hook [%s] kind %u path %.*s patch of %zu bytes state %u",
           me->prefix, event->kind, (int)event->relative.len, (const char*)event->relative.data,
           diff.data.len, diff.state);
  me->host->log(me->host, SG_LOG_INFO, NULL, str(text));
  return SG_OK;
}

static sg_status flush(void* self, sg_call* call) {
  (void)call;
  state* me = self;
  me->host->log(me->host, SG_LOG_INFO, NULL, str("old hook was flushed"));
  return SG_OK;
}

static const sg_hook hook = {sizeof(sg_hook), 0, interests, on_event, NULL, flush};
static const char schema[] =
    "{\"type\": \"object\", \"required\": [\"word\"], \"properties\": {\"word\": {\"type\": "
    "\"string\"}}}";
static const sg_type type = {sizeof(sg_type), 0,     SG_KIND_HOOK, "old_hook", "A hook of ABI 1.0",
                             schema,          &hook, create,       destroy,    NULL};
static const sg_type* const types[] = {&type, NULL};
const sg_plugin sg_plugin_v1 = {sizeof(sg_plugin), SG_ABI_MAJOR, SG_ABI_MINOR, 0,    "old.hook",
                                "1.0.0",           NULL,         NULL,         types};
