/* Where copies lie, and what an id and a path inside say. */
#define _GNU_SOURCE /* O_PATH */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "twin.h"

static int place(box* b, const char* folder) {
  const int dir = snprintf(b->dir, sizeof b->dir, "%s/%s", folder, b->id);
  snprintf(b->tree, sizeof b->tree, "%s/tree", b->dir);
  return dir > 0 && (size_t)dir < sizeof b->dir ? 0 : ENAMETOOLONG;
}

/* Points key, owner and root into `about`. */
static int take_apart(box* b) {
  const char** parts[] = {&b->key, &b->owner, &b->root};
  const char *at = b->about, *end = b->about + b->about_len;
  for (size_t i = 0; i < 3; i++) {
    const char* nul = memchr(at, 0, (size_t)(end - at));
    if (!nul) return EBADMSG;
    *parts[i] = at;
    at = nul + 1;
  }
  return 0;
}

int box_plan(box* b, const char* folder, const sg_sandbox_spec* spec) {
  const sg_str parts[] = {spec->key, spec->owner, spec->root, spec->local_root};
  uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
  b->about_len = 0;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    if (parts[i].len >= sizeof b->about - b->about_len) return ENAMETOOLONG;
    if (parts[i].len) memcpy(b->about + b->about_len, parts[i].data, parts[i].len);
    b->about_len += parts[i].len;
    b->about[b->about_len++] = 0;
  }
  for (size_t i = 0; i < b->about_len; i++)
    hash = (hash ^ (unsigned char)b->about[i]) * UINT64_C(0x100000001b3);
  snprintf(b->id, sizeof b->id, "copy-%016llx", (unsigned long long)hash);
  const int error = place(b, folder);
  return error ? error : take_apart(b);
}

int box_make(const box* b) {
  char about[PATH_MAX], fresh[PATH_MAX];
  snprintf(about, sizeof about, "%s/about", b->dir);
  snprintf(fresh, sizeof fresh, "%s/about.new", b->dir);
  if (mkdir(b->dir, 0700) < 0 && errno != EEXIST) return errno;
  const int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return errno;
  const ssize_t n = write(fd, b->about, b->about_len);
  const int error = n == (ssize_t)b->about_len ? 0 : n < 0 ? errno : ENOSPC;
  if (close(fd) < 0) return errno;
  if (error) return error;
  return rename(fresh, about) < 0 ? errno : 0;
}

int box_load(box* b, const char* folder, sg_str id) {
  char about[PATH_MAX];
  if (id.len != strlen("copy-0123456789abcdef") || memcmp(id.data, "copy-", 5) != 0) return EINVAL;
  memcpy(b->id, id.data, id.len);
  b->id[id.len] = 0;
  if (strspn(b->id + 5, "0123456789abcdef") != id.len - 5) return EINVAL; /* becomes a path */
  const int error = place(b, folder);
  if (error) return error;
  snprintf(about, sizeof about, "%s/about", b->dir);
  const int fd = open(about, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return errno;
  const ssize_t n = read(fd, b->about, sizeof b->about);
  const int failed = n < 0 ? errno : 0;
  close(fd);
  b->about_len = n < 0 ? 0 : (size_t)n;
  return failed ? failed : take_apart(b);
}

int box_inside(const box* b, sg_bytes path, char* real, size_t room) {
  struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve = RESOLVE_BENEATH};
  char below[PATH_MAX], link[64];
  const size_t root = strlen(b->root);
  if (path.len && path.data[0] == '/') { /* absolute: has to lie below the root inside */
    if (path.len < root || memcmp(path.data, b->root, root) != 0) return EXDEV;
    path.data += root, path.len -= root;
    if (path.len && path.data[0] != '/') return EXDEV;
  }
  while (path.len && path.data[0] == '/') path.data++, path.len--;
  if (snprintf(below, sizeof below, "%.*s", (int)path.len, (const char*)path.data) < 0)
    return EINVAL;
  /* The agent makes links here: the kernel resolves, so nothing can change in between. */
  const int tree = open(b->tree, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (tree < 0) return errno == ENOENT ? ESTALE : errno;
  const int fd = (int)syscall(SYS_openat2, tree, *below ? below : ".", &how, sizeof how);
  const int failed = fd < 0 ? errno : 0;
  close(tree);
  if (failed) return failed;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t n = readlink(link, real, room - 1);
  close(fd);
  if (n < 0) return errno;
  real[n] = 0;
  return 0;
}
