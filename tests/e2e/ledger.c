/* A hook for tests that writes down each event it takes: "seq kind replay path [before]" and a line
   end, in one write(). It refuses events while a file of the name in `refuse` exists, and for good
   those whose path ends in ".bad". */
#include <fcntl.h>
#include <sandglass/plugin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct ledger {
  const sg_host *host;
  const sg_event_service *events;
  int fd;
  char refuse[4096];
  uint32_t with_before;
} ledger;

static sg_status create(const sg_host *host, sg_call *call, const sg_config *config, void **self) {
  static const sg_str none = {"", 0};
  ledger *me = calloc(1, sizeof *me);
  (void)call;
  if (!me) return SG_E_NO_MEMORY;
  me->host = host;
  me->events = host->service(host, SG_SERVICE_EVENT);
  me->with_before = host->config_bool(host, config, "/before", 0);
  snprintf(me->refuse, sizeof me->refuse, "%s", host->config_str(host, config, "/refuse", none).data);
  me->fd = open(host->config_str(host, config, "/file", none).data,
                O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (me->fd < 0) {
    free(me);
    return SG_E_FAILED;
  }
  *self = me;
  return SG_OK;
}

static void destroy(void *self) {
  ledger *me = self;
  close(me->fd);
  free(me);
}

static uint64_t interests(void *self) {
  (void)self;
  return SG_EV_ALL;
}

static sg_status say(ledger *me, sg_call *call, uint32_t flags, const char *why) {
  sg_str none = {"", 0}, text;
  text.data = why;
  text.len = strlen(why);
  return me->host->fail(me->host, call, SG_E_BUSY, flags, none, text);
}

static sg_status on_event(void *self, sg_call *call, const sg_event *event) {
  ledger *me = self;
  char line[8192];
  int n;
  sg_content before;
  memset(&before, 0, sizeof before);
  before.struct_size = sizeof before;
  if (me->refuse[0] && access(me->refuse, F_OK) == 0) return say(me, call, 0, "not now");
  if (event->relative.len > 4 &&
      memcmp(event->relative.data + event->relative.len - 4, ".bad", 4) == 0)
    return say(me, call, SG_FAIL_FINAL, "never that one");
  if (me->with_before && event->kind <= SG_EV_FILE_DELETE)
    me->events->content(me->host, call, event, SG_BEFORE, &before);
  n = snprintf(line, sizeof line, "%llu %u %d %.*s %.*s", (unsigned long long)event->seq,
               event->kind, (event->flags & SG_EVF_REPLAY) != 0, (int)event->relative.len,
               (const char *)event->relative.data, (int)before.data.len,
               before.data.len ? (const char *)before.data.data : "");
  while (n > 0 && (line[n - 1] == ' ' || line[n - 1] == '\n')) n--;
  line[n++] = '\n';
  return write(me->fd, line, (size_t)n) == n ? SG_OK : SG_E_FAILED;
}

static const sg_hook hook = {sizeof(sg_hook), 0, interests, on_event, NULL, NULL};
static const sg_type type = {sizeof(sg_type), 0, SG_KIND_HOOK, "ledger", "Writes down events", NULL,
                             &hook, create, destroy, NULL};
static const sg_type *const types[] = {&type, NULL};
const sg_plugin sg_plugin_v1 = {sizeof(sg_plugin), SG_ABI_MAJOR, SG_ABI_MINOR, 0,
                                "test.ledger", "1.0.0", "Apache-2.0", NULL, types};
