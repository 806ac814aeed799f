/* sizes: appends a line to a file for each file event: what happened, how large the file is now,
   which file. A plain C hook with a configuration, errors people can act on, and content. */
#include <errno.h>
#include <fcntl.h>
#include <sandglass/plugin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct state {
  const sg_host* host; /* valid until destroy() returns, and so is what it hands out */
  const sg_event_service* events;
  int fd;
} state;

static sg_str str(const char* text) {
  const sg_str out = {text, strlen(text)};
  return out;
}

/* Names are bytes and may hold anything: a newline in one must not forge a line of ours. */
static size_t append_escaped(char* out, size_t room, sg_bytes name) {
  size_t used = 0;
  for (size_t i = 0; i < name.len && used + 5 < room; i++) {
    const unsigned char c = name.data[i];
    if (c > 0x20 && c < 0x7f && c != '\\')
      out[used++] = (char)c;
    else
      used += (size_t)snprintf(out + used, room - used, "\\x%02x", c);
  }
  return used;
}

static sg_status create(const sg_host* host, sg_call* call, const sg_config* config, void** self) {
  /* The host has checked `with:` against the schema below: `file` is there and absolute. */
  const sg_str file = host->config_str(host, config, "/file", str(""));
  state* me = malloc(sizeof *me);
  if (!me) return SG_E_NO_MEMORY;
  me->host = host;
  me->events = host->service(host, SG_SERVICE_EVENT);
  me->fd = open(file.data, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (me->fd < 0) {
    char why[200];
    snprintf(why, sizeof why, "cannot be opened for writing: %s", strerror(errno));
    free(me);
    return host->fail(host, call, SG_E_INVALID, 0, str("file"), str(why)); /* names the YAML line */
  }
  *self = me;
  return SG_OK;
}

static void destroy(void* self) {
  state* me = self;
  close(me->fd);
  free(me);
}

static uint64_t interests(void* self) {
  (void)self;
  return SG_EV_FILES;
}

static sg_status on_event(void* self, sg_call* call, const sg_event* event) {
  static const char* const names[] = {"create", "change", "delete"}; /* by SG_EV_FILE_* */
  state* me = self;
  char line[32 * 1024];
  sg_content after;
  memset(&after, 0, sizeof after);
  after.struct_size = sizeof after;
  if (event->kind > SG_EV_FILE_DELETE) return SG_OK; /* of a later host: not ours */
  if (me->events) me->events->content(me->host, call, event, SG_AFTER, &after);

  size_t len = (size_t)snprintf(line, sizeof line, "%s %llu ", names[event->kind],
                                (unsigned long long)after.full_size);
  len += append_escaped(line + len, sizeof line - len - 1, event->relative);
  line[len++] = '\n';
  /* SG_OK says that we are done with the event: only when the line is in the file. One write, so
     that several of us in one file never mix within a line. */
  const ssize_t written = write(me->fd, line, len);
  if (written == (ssize_t)len) return SG_OK;
  return me->host->fail(me->host, call, SG_E_FAILED, SG_FAIL_RETRY, str(""),
                        str(written < 0 ? strerror(errno) : "the disk is full"));
}

static sg_status flush(void* self, sg_call* call) {
  state* me = self;
  if (fdatasync(me->fd) == 0 || errno == EINVAL) return SG_OK; /* EINVAL: a pipe or a terminal */
  return me->host->fail(me->host, call, SG_E_FAILED, SG_FAIL_RETRY, str(""), str(strerror(errno)));
}

static const char schema[] =
    "{\"type\": \"object\", \"additionalProperties\": false, \"required\": [\"file\"],"
    " \"properties\": {\"file\": {\"type\": \"string\", \"pattern\": \"^/\","
    " \"description\": \"The file to append to: an absolute path outside the workspace\"}}}";

static const sg_hook hook = {
    .struct_size = sizeof(sg_hook), .interests = interests, .on_event = on_event, .flush = flush};
static const sg_type type = {.struct_size = sizeof(sg_type),
                             .kind = SG_KIND_HOOK,
                             .name = "sizes",
                             .summary = "Appends what happened and the size to a file",
                             .config_schema = schema,
                             .methods = &hook,
                             .create = create,
                             .destroy = destroy};
static const sg_type* const types[] = {&type, NULL};
const sg_plugin sg_plugin_v1 = {.struct_size = sizeof(sg_plugin),
                                .abi_major = SG_ABI_MAJOR,
                                .abi_minor = SG_ABI_MINOR,
                                .id = "com.example.sizes",
                                .version = "0.1.0",
                                .license = "Apache-2.0",
                                .types = types};
