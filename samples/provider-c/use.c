/* What is done with a copy that is there. Each call finds it anew by its id. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "twin.h"

static int is_there(const box* b) {
  struct stat st;
  return lstat(b->tree, &st) == 0 && S_ISDIR(st.st_mode);
}

sg_status exec(void* self, sg_call* call, sg_str id, const sg_exec* what, sg_io* io, sg_exit* end) {
  const state* me = self;
  box b;
  char cwd[PATH_MAX], workspace[PATH_MAX + 32], pwd[PATH_MAX + 8];
  int error = box_load(&b, me->folder, id);
  if (error) return fail(me, call, error, "no sandbox of this id");
  error = box_inside(&b, what->cwd, cwd, sizeof cwd);
  if (error == ENOENT || error == ENOTDIR) { /* the caller's mistake, not ours: an ending */
    end->how = SG_EXIT_BAD_CWD;
    end->value = error;
    return SG_OK;
  }
  if (error) return fail(me, call, error, "the command cannot start in its directory");
  snprintf(workspace, sizeof workspace, "SANDGLASS_WORKSPACE=%s", b.tree);
  snprintf(pwd, sizeof pwd, "PWD=%s", cwd);
  sg_bytes* env = malloc((what->envc + 2) * sizeof *env);
  if (!env) return SG_E_NO_MEMORY;
  env[0] = bytes(workspace);
  env[1] = bytes(pwd);
  for (size_t i = 0; i < what->envc; i++) env[i + 2] = what->env[i]; /* the last of a name wins */
  sg_exec here = *what;
  here.struct_size = sizeof here;
  here.env = env;
  here.envc = what->envc + 2;
  here.cwd = bytes(cwd);
  /* Streams, deadline, cancellation and the end of the whole tree are the host's part. */
  const sg_status status = me->processes->run(me->host, call, &here, io, end);
  free(env);
  return status;
}

sg_status list(void* self, sg_call* call, sg_str owner, sg_held_sink* sink) {
  const state* me = self;
  sg_status status = SG_OK;
  DIR* folder = opendir(me->folder);
  if (!folder) return errno == ENOENT ? SG_OK : fail(me, call, errno, me->folder);
  for (const struct dirent* at; status == SG_OK && (at = readdir(folder));) {
    box b;
    struct stat st;
    if (box_load(&b, me->folder, str(at->d_name)) != 0) continue; /* not ours, or just going */
    if (strlen(b.owner) != owner.len || memcmp(b.owner, owner.data, owner.len) != 0) continue;
    sg_held held = {.struct_size = sizeof held,
                    .state = is_there(&b) ? SG_HELD_RUNNING : SG_HELD_BROKEN,
                    .id = str(b.id),
                    .key = str(b.key),
                    .owner = owner};
    if (lstat(b.dir, &st) == 0) held.created_ns = (int64_t)st.st_mtim.tv_sec * 1000000000;
    status = sink->add(sink, &held);
  }
  closedir(folder);
  return status;
}

sg_status wait_gone(void* self, sg_call* call, sg_str id) {
  const state* me = self;
  box b;
  if (box_load(&b, me->folder, id) == EINVAL) return fail(me, call, EINVAL, "no id of ours");
  while (is_there(&b)) {
    /* wait() returns early when the call is cancelled or its deadline passes: both end it. */
    const sg_status status = me->host->wait(me->host, call, -1, 0, 1000);
    if (status != SG_E_TIMEOUT || me->host->cancelled(me->host, call)) return status;
  }
  return SG_OK;
}

sg_status resume(void* self, sg_call* call, sg_str id) {
  const state* me = self;
  box b;
  int error = box_load(&b, me->folder, id);
  if (!error && !is_there(&b)) error = ENOENT;
  return error ? fail(me, call, error, "no such sandbox") : SG_OK;
}

sg_status local_path(void* self, sg_call* call, sg_str id, sg_out* path) {
  const state* me = self;
  box b;
  const int error = box_load(&b, me->folder, id);
  if (error) return fail(me, call, error, "no sandbox of this id");
  if (!is_there(&b)) return fail(me, call, ESTALE, b.tree);
  return path->append(path, b.tree, strlen(b.tree));
}
