/* A hook that writes down what before(), after() and diff() say of each file event, one line each:
   type, path, then state and bytes of the three, bytes in hex ("-" when empty). */
#include <sandglass/plugin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct accessors {
  const sg_host *host;
  const sg_event_service *events;
  FILE *out;
} accessors;

static void put_hex(FILE *out, sg_bytes bytes) {
  size_t i;
  fputc(' ', out);
  if (bytes.len == 0) fputc('-', out);
  for (i = 0; i < bytes.len; i++) fprintf(out, "%02x", bytes.data[i]);
}

static sg_status create(const sg_host *host, sg_call *call, const sg_config *config, void **self) {
  static const sg_str none = {"", 0};
  sg_str file = host->config_str(host, config, "/file", none);
  accessors *me = calloc(1, sizeof *me);
  (void)call;
  if (!me) return SG_E_NO_MEMORY;
  me->host = host;
  me->events = host->service(host, SG_SERVICE_EVENT);
  me->out = fopen(file.data, "we");
  if (!me->events || !me->out) {
    free(me);
    return SG_E_FAILED;
  }
  *self = me;
  return SG_OK;
}

static void destroy(void *self) {
  accessors *me = self;
  fclose(me->out);
  free(me);
}

static uint64_t interests(void *self) {
  (void)self;
  return SG_EV_FILES;
}

static sg_status on_event(void *self, sg_call *call, const sg_event *event) {
  accessors *me = self;
  uint32_t which;
  fprintf(me->out, "%u", event->kind);
  put_hex(me->out, event->relative);
  for (which = SG_BEFORE; which <= SG_DIFF; which++) {
    sg_content content;
    memset(&content, 0, sizeof content);
    content.struct_size = sizeof content;
    me->events->content(me->host, call, event, which, &content);
    fprintf(me->out, " %u", content.state);
    put_hex(me->out, content.data);
  }
  fputc('\n', me->out);
  fflush(me->out);
  return SG_OK;
}

static const sg_hook hook = {sizeof(sg_hook), 0, interests, on_event, NULL, NULL};
static const sg_type type = {
    sizeof(sg_type), 0, SG_KIND_HOOK, "accessors", "Writes down what the accessors say",
    "{\"type\":\"object\",\"required\":[\"file\"],\"additionalProperties\":false,"
    "\"properties\":{\"file\":{\"type\":\"string\"}}}",
    &hook, create, destroy, NULL};
static const sg_type *const types[] = {&type, NULL};
const sg_plugin sg_plugin_v1 = {sizeof(sg_plugin), SG_ABI_MAJOR, SG_ABI_MINOR, 0,
                                "example.invalid.accessors", "1.0.0", "Apache-2.0", "", types};
