/* twin: a provider whose sandbox is a private copy of the workspace. The command changes the copy,
   the workspace stays as it is, and `sandglass run --diff` shows what would be different. It keeps
   work apart and isolates nothing: commands run as this user. */
#include "twin.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

sg_str str(const char* text) {
  const sg_str out = {text, strlen(text)};
  return out;
}
sg_bytes bytes(const char* text) {
  const sg_bytes out = {(const uint8_t*)text, strlen(text)};
  return out;
}

sg_status fail(const state* me, sg_call* call, int error, const char* what) {
  char text[PATH_MAX];
  sg_status status = SG_E_FAILED;
  if (error == EINVAL) status = SG_E_INVALID;
  if (error == ENOENT || error == ENOTDIR) status = SG_E_NOT_FOUND;
  if (error == ESTALE) status = SG_E_LOST;
  if (error == EPERM || error == EACCES || error == EXDEV || error == ELOOP) status = SG_E_DENIED;
  snprintf(text, sizeof text, "%s: %s", what, strerror(error));
  return me->host->fail(me->host, call, status, 0, str(""), str(text));
}

/* The folder of all copies, made where it is not there. */
static int prepare(const char* wanted, char* folder, size_t room) {
  struct stat st;
  const char* temporary = getenv("TMPDIR");
  const int len = *wanted ? snprintf(folder, room, "%s", wanted)
                          : snprintf(folder, room, "%s/sandglass-twin-%u",
                                     temporary ? temporary : "/var/tmp", (unsigned)geteuid());
  if (len < 0 || (size_t)len >= room) return ENAMETOOLONG;
  if (mkdir(folder, 0700) < 0 && errno != EEXIST) return errno;
  if (lstat(folder, &st) < 0) return errno;
  if (!S_ISDIR(st.st_mode)) return ENOTDIR;
  /* What others may write could be swapped under us. */
  return st.st_uid == geteuid() && !(st.st_mode & 022) ? 0 : EPERM;
}

static sg_status create_self(const sg_host* host, sg_call* call, const sg_config* config,
                             void** self) {
  char text[PATH_MAX];
  state* me = calloc(1, sizeof *me);
  if (!me) return SG_E_NO_MEMORY;
  me->host = host;
  me->processes = host->service(host, SG_SERVICE_PROCESS);
  const char* wanted = host->config_str(host, config, "/folder", str("")).data;
  const int error = me->processes ? prepare(wanted, me->folder, sizeof me->folder) : ENOSYS;
  if (!error) {
    *self = me;
    return SG_OK;
  }
  snprintf(text, sizeof text, "the folder of copies, %s: %s", me->folder, strerror(error));
  free(me);
  return host->fail(host, call, SG_E_INVALID, 0, str("folder"), str(text));
}

static void destroy_self(void* self) {
  free(self);
} /* the copies stay: they have ids */

static uint64_t capabilities(void* self) {
  (void)self;
  return SG_CAP_BACKGROUND | SG_CAP_STDIN | SG_CAP_TTY | SG_CAP_KILL | SG_CAP_DURABLE_DISK |
         SG_CAP_LOCAL_PATH;
}

static const char schema[] =
    "{\"type\": \"object\", \"additionalProperties\": false, \"properties\": {\"folder\":"
    " {\"type\": \"string\", \"pattern\": \"^/\", \"description\": \"Where the copies lie; this"
    " user's alone\"}}}";

static const sg_provider provider = {.struct_size = sizeof(sg_provider),
                                     .capabilities = capabilities,
                                     .create = create,
                                     .destroy = destroy,
                                     .exec = exec,
                                     .list = list,
                                     .wait_gone = wait_gone,
                                     .resume = resume,
                                     .local_path = local_path};
static const sg_type type = {.struct_size = sizeof(sg_type),
                             .kind = SG_KIND_PROVIDER,
                             .name = "twin",
                             .summary = "A private copy of the workspace; isolates nothing",
                             .config_schema = schema,
                             .methods = &provider,
                             .create = create_self,
                             .destroy = destroy_self};
static const sg_type* const types[] = {&type, NULL};
const sg_plugin sg_plugin_v1 = {.struct_size = sizeof(sg_plugin),
                                .abi_major = SG_ABI_MAJOR,
                                .abi_minor = SG_ABI_MINOR,
                                .id = "com.example.twin",
                                .version = "0.1.0",
                                .license = "Apache-2.0",
                                .types = types};
