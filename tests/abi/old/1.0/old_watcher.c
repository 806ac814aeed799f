/* A watcher of ABI 1.0: asks the host to look at all there is, again and again. */
#include <dirent.h>
#include <pthread.h>
#include <sandglass/plugin.h>
#include <stdlib.h>
#include <string.h>

typedef struct state {
  const sg_host* host;
  pthread_mutex_t mutex;
  const sg_watch_target* target; /* of the one run() that is active */
  sg_watch_sink* sink;
} state;

static sg_status create(const sg_host* host, sg_call* call, const sg_config* config, void** self) {
  (void)call, (void)config;
  state* me = calloc(1, sizeof *me);
  if (!me) return SG_E_NO_MEMORY;
  me->host = host;
  pthread_mutex_init(&me->mutex, NULL);
  *self = me;
  return SG_OK;
}
static void destroy(void* self) {
  free(self);
}

static sg_status hint(sg_watch_sink* sink, uint32_t kind, const char* path) {
  sg_hint one;
  const sg_hint* const list[] = {&one};
  memset(&one, 0, sizeof one);
  one.struct_size = sizeof one;
  one.kind = kind;
  one.pidfd = -1;
  one.path.data = (const uint8_t*)path;
  one.path.len = strlen(path);
  return sink->hints(sink, list, 1);
}

static sg_status look(state* me) {
  sg_status status = SG_OK;
  DIR* root = opendir((const char*)me->target->local_root.data);
  for (const struct dirent* at; root && status == SG_OK && (at = readdir(root));)
    if (strcmp(at->d_name, ".") != 0 && strcmp(at->d_name, "..") != 0)
      status = hint(me->sink, SG_HINT_ENTRY, at->d_name);
  if (root) closedir(root);
  return status == SG_OK ? hint(me->sink, SG_HINT_TREE, "") : status;
}

static sg_status locked_look(state* me) {
  pthread_mutex_lock(&me->mutex);
  const sg_status status = me->sink ? look(me) : SG_E_NOT_FOUND;
  pthread_mutex_unlock(&me->mutex);
  return status;
}

static void set(state* me, const sg_watch_target* target, sg_watch_sink* sink) {
  pthread_mutex_lock(&me->mutex);
  me->target = target;
  me->sink = sink;
  pthread_mutex_unlock(&me->mutex);
}

static sg_status run(void* self, sg_call* call, const sg_watch_target* target,
                     sg_watch_sink* sink) {
  state* me = self;
  const sg_str json = {"{\"mode\":\"old\"}", 14};
  sg_status status = SG_OK;
  set(me, target, sink);
  sink->state(sink, json);
  sink->ready(sink);
  while (status == SG_OK) {
    status = me->host->wait(me->host, call, -1, 0, (int32_t)target->interval_ms);
    if (status == SG_E_TIMEOUT && !me->host->cancelled(me->host, call)) status = locked_look(me);
  }
  set(me, NULL, NULL);
  return status;
}

static sg_status probe(void* self, sg_call* call, const sg_watch_target* target) {
  (void)self, (void)call;
  return target->local_root.len ? SG_OK : SG_E_UNSUPPORTED;
}

static sg_status flush(void* self, sg_call* call, sg_str sandbox_id) {
  (void)call, (void)sandbox_id;
  return locked_look(self);
}

static const sg_watcher watcher = {sizeof(sg_watcher), 0, run, probe, flush};
static const sg_type type = {
    sizeof(sg_type), 0,      SG_KIND_WATCHER, "old_watcher", "A watcher of ABI 1.0", NULL,
    &watcher,        create, destroy,         NULL};
static const sg_type* const types[] = {&type, NULL};
const sg_plugin sg_plugin_v1 = {sizeof(sg_plugin), SG_ABI_MAJOR, SG_ABI_MINOR, 0,    "old.watcher",
                                "1.0.0",           NULL,         NULL,         types};
