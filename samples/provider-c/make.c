/* How copies come and go. Copying and removing are done by cp and rm: the host starts them, ends
   them when the call is cancelled or late, and reaps them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "twin.h"

/* Keeps the beginning of what a helper says on stderr. */
typedef struct said {
  sg_io io; /* first, so that a pointer to it is one to us */
  char text[160];
  size_t len;
} said;

static sg_status hear(sg_io* io, int32_t stream, const void* data, size_t len) {
  said* s = (said*)io;
  const size_t room = sizeof s->text - 1 - s->len;
  if (stream == 2) {
    memcpy(s->text + s->len, data, len < room ? len : room);
    s->len += len < room ? len : room;
  }
  return SG_OK;
}

/* One program to its end: an argument list, never a line for a shell. */
static sg_status helper(const state* me, sg_call* call, const char* const* words, size_t count) {
  sg_bytes argv[5];
  said heard = {.io = {.struct_size = sizeof(sg_io), .read_fd = -1, .write = hear}};
  for (size_t i = 0; i < count; i++) argv[i] = bytes(words[i]);
  const sg_exec what = {.struct_size = sizeof what, .argv = argv, .argc = count};
  sg_exit end = {.struct_size = sizeof end};
  const sg_status status = me->processes->run(me->host, call, &what, &heard.io, &end);
  if (status != SG_OK || (end.how == SG_EXIT_CODE && end.value == 0)) return status;
  if (!heard.len) return fail(me, call, end.how == SG_EXIT_NOT_FOUND ? end.value : EIO, words[0]);
  return me->host->fail(me->host, call, SG_E_FAILED, 0, str(""), str(heard.text));
}

static sg_status copy(const state* me, sg_call* call, const sg_sandbox_spec* spec, const box* b) {
  /* Under another name first: half a copy never passes for one. */
  char source[PATH_MAX], fresh[PATH_MAX];
  snprintf(fresh, sizeof fresh, "%s.new", b->tree);
  const int len = snprintf(source, sizeof source, "%s/.", spec->local_root.data);
  if (len < 0 || (size_t)len >= sizeof source) return fail(me, call, ENAMETOOLONG, "the workspace");
  const char* const clear[] = {"rm", "-rf", "--", fresh};
  const char* const fill[] = {"cp", "-a", "--", source, fresh};
  sg_status status = helper(me, call, clear, 4);
  if (status == SG_OK) status = helper(me, call, fill, 5);
  if (status == SG_OK && rename(fresh, b->tree) < 0) return fail(me, call, errno, b->tree);
  return status;
}

sg_status create(void* self, sg_call* call, const sg_sandbox_spec* spec, sg_out* id) {
  const state* me = self;
  box b;
  struct stat st;
  if (spec->secrets.len > strlen("{}") || spec->snapshot.len)
    return me->host->fail(me->host, call, SG_E_UNSUPPORTED, 0, str(""),
                          str("this provider takes no secrets and has no snapshots"));
  int error = box_plan(&b, me->folder, spec);
  if (!error && stat(spec->local_root.len ? spec->local_root.data : "", &st) < 0) error = errno;
  if (!error && !S_ISDIR(st.st_mode)) error = ENOTDIR;
  if (error) return fail(me, call, error, "the workspace cannot be copied");
  error = box_make(&b);
  /* There is something to destroy from here on: its id goes out before anything else can fail. */
  const sg_status told = id->append(id, b.id, strlen(b.id));
  if (error) return fail(me, call, error, b.dir);
  if (told != SG_OK) return told;
  return lstat(b.tree, &st) == 0 ? SG_OK /* made before, from the same inputs */
                                 : copy(me, call, spec, &b);
}

sg_status destroy(void* self, sg_call* call, sg_str id) {
  const state* me = self;
  box b;
  const int error = box_load(&b, me->folder, id);
  if (error == EINVAL) return fail(me, call, error, "the sandbox cannot be removed");
  /* One that is half made or half removed goes too; twice is fine. */
  const char* const clear[] = {"rm", "-rf", "--", b.dir};
  return helper(me, call, clear, 4);
}
