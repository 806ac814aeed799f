/* A provider of ABI 1.0: commands run in the directory itself, through the process service. The id
   is "old:" and the directory. */
#include <sandglass/plugin.h>
#include <string.h>
#include <unistd.h>

static const sg_host* of(void* self) {
  return self;
}

static sg_str path_of(sg_str id) {
  const sg_str out = {id.data + 4, id.len - 4};
  return out;
}

static sg_status create_self(const sg_host* host, sg_call* call, const sg_config* config,
                             void** self) {
  (void)call, (void)config;
  *self = (void*)host;
  return SG_OK;
}
static void destroy_self(void* self) {
  (void)self;
}

static uint64_t capabilities(void* self) {
  (void)self;
  return SG_CAP_STDIN | SG_CAP_TTY | SG_CAP_KILL | SG_CAP_LOCAL_PATH;
}

static sg_status create(void* self, sg_call* call, const sg_sandbox_spec* spec, sg_out* id) {
  (void)self, (void)call;
  const sg_status status = id->append(id, "old:", 4);
  return status != SG_OK ? status : id->append(id, spec->local_root.data, spec->local_root.len);
}

static sg_status destroy(void* self, sg_call* call, sg_str id) {
  (void)self, (void)call;
  return id.len > 4 ? SG_OK : SG_E_INVALID;
}

static sg_status exec(void* self, sg_call* call, sg_str id, const sg_exec* what, sg_io* io,
                      sg_exit* end) {
  const sg_process_service* processes = of(self)->service(of(self), SG_SERVICE_PROCESS);
  const sg_str path = path_of(id);
  sg_exec here = *what;
  if (!processes) return SG_E_UNSUPPORTED;
  here.struct_size = sizeof here;
  here.cwd.data = (const uint8_t*)path.data;
  here.cwd.len = path.len;
  return processes->run(of(self), call, &here, io, end);
}

static sg_status list(void* self, sg_call* call, sg_str owner, sg_held_sink* sink) {
  (void)self, (void)call, (void)owner, (void)sink;
  return SG_OK;
}

static sg_status wait_gone(void* self, sg_call* call, sg_str id) {
  while (access(path_of(id).data, F_OK) == 0) {
    const sg_status status = of(self)->wait(of(self), call, -1, 0, 1000);
    if (status != SG_E_TIMEOUT || of(self)->cancelled(of(self), call)) return status;
  }
  return SG_OK;
}

static sg_status local_path(void* self, sg_call* call, sg_str id, sg_out* path) {
  (void)self, (void)call;
  return path->append(path, path_of(id).data, path_of(id).len);
}

static const sg_provider provider = {.struct_size = sizeof(sg_provider),
                                     .capabilities = capabilities,
                                     .create = create,
                                     .destroy = destroy,
                                     .exec = exec,
                                     .list = list,
                                     .wait_gone = wait_gone,
                                     .local_path = local_path};
static const sg_type type = {sizeof(sg_type),
                             0,
                             SG_KIND_PROVIDER,
                             "old_provider",
                             "A provider of ABI 1.0",
                             NULL,
                             &provider,
                             create_self,
                             destroy_self,
                             NULL};
static const sg_type* const types[] = {&type, NULL};
const sg_plugin sg_plugin_v1 = {sizeof(sg_plugin), SG_ABI_MAJOR, SG_ABI_MINOR, 0,    "old.provider",
                                "1.0.0",           NULL,         NULL,         types};
