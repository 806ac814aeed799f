/* The parts of the provider: twin.c the table, make.c how copies come and go, use.c commands in
   them, box.c where they lie. */
#ifndef PROVIDER_H
#define PROVIDER_H

#include <limits.h>
#include <sandglass/plugin.h>

/* The instance: several threads use it at once, so nothing here changes after create(). */
typedef struct state {
  const sg_host* host;
  const sg_process_service* processes;
  char folder[PATH_MAX / 2];
} state;

sg_str str(const char* text);
sg_bytes bytes(const char* text);
/* "what: <the errno's text>", with the status that fits. */
sg_status fail(const state* me, sg_call* call, int error, const char* what);

/* A sandbox on disk. <folder>/<id>/ holds `tree`, the private copy, and `about`, what create() was
   given. Nothing is kept in memory: any later process finds it again by its id. Functions return 0
   or an errno. */
typedef struct box {
  char id[24];
  char dir[PATH_MAX / 2 + 32], tree[PATH_MAX / 2 + 64];
  char about[4 * PATH_MAX]; /* key, owner, root inside, what it was copied from; each with a NUL */
  size_t about_len;
  const char *key, *owner, *root; /* in `about` */
} box;

/* The box of these inputs; equal inputs give an equal id. Touches nothing. */
int box_plan(box* b, const char* folder, const sg_sandbox_spec* spec);
/* Makes its directory and `about`; one that is there is fine. */
int box_make(const box* b);
/* EINVAL: no id of ours. ENOENT: there is no such box; id, dir and tree are set all the same. */
int box_load(box* b, const char* folder, sg_str id);
/* The real directory behind a path inside, "/workspace/src". EXDEV or ELOOP: it leads outside;
   ESTALE: the copy itself is gone. */
int box_inside(const box* b, sg_bytes path, char* real, size_t room);

/* Of sg_provider. */
sg_status create(void* self, sg_call* call, const sg_sandbox_spec* spec, sg_out* id);
sg_status destroy(void* self, sg_call* call, sg_str id);
sg_status exec(void* self, sg_call* call, sg_str id, const sg_exec* what, sg_io* io, sg_exit* end);
sg_status list(void* self, sg_call* call, sg_str owner, sg_held_sink* sink);
sg_status wait_gone(void* self, sg_call* call, sg_str id);
sg_status resume(void* self, sg_call* call, sg_str id);
sg_status local_path(void* self, sg_call* call, sg_str id, sg_out* path);

#endif
