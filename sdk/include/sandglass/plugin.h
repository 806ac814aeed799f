/*
 * sandglass/plugin.h - everything a plugin needs to talk to the host.
 *
 * A plugin is one shared object that exports one symbol, a constant table
 * named sg_plugin_v1. The digit is the ABI major: the host reads the symbol
 * names from the file first, so a plugin of another major is refused before
 * any of its code runs.
 *
 * Rules that hold everywhere in this file
 *
 *  Size      Every struct starts with struct_size. The side that fills a
 *            struct in sets it to sizeof(that struct) as it was compiled. A
 *            reader treats what lies past struct_size as zero; SG_HAS() asks
 *            whether a field is there. A null function slot means "not
 *            offered". Fields named `reserved` are zero.
 *  Growth    Within major 1, fields are only added, and only at the end.
 *            Arrays are arrays of pointers, so elements may grow too. Structs
 *            are never embedded in one another, except sg_str and sg_bytes.
 *  Memory    Nothing allocated on one side is freed on the other. A plugin
 *            hands data back by appending to a sg_out; the host hands data
 *            over as views that stay valid as said next to them.
 *  Text      sg_str is UTF-8 with a length, sg_bytes is bytes with a length.
 *            What the host passes is also followed by a NUL byte; what a
 *            plugin passes need not be. An empty one may have null data.
 *            Paths hold anything but NUL. `const char *` ends with NUL.
 *  Time      *_ns counts nanoseconds: int64_t since 1970 (UTC), uint64_t on
 *            host->now_ns()'s monotonic clock.
 *  Errors    A function that can fail returns a sg_status. On failure it may
 *            describe the cause with host->fail(). A status outside SG_E_* is
 *            taken as SG_E_FAILED. Nothing may unwind through this interface:
 *            no exception, no panic, no longjmp.
 *  Output    stdout belongs to the host. Say things with host->log().
 *  Process   It belongs to the host. exit(), _exit(), quick_exit() and
 *            pthread_exit() in a function of the plugin return to the host
 *            as a failure, and nothing of the instance is called any more;
 *            abort() and signals end the host.
 *  Threads   The host owns every thread that enters a plugin. Each function
 *            carries a tag:
 *              [any]    callable on any thread, by many at once
 *              [self]   the host never runs two of these at once for one
 *                       instance, unless its type sets SG_TYPE_CONCURRENT
 *              [box]    never two at once for one sandbox id; different ids
 *                       run at once
 *              [call]   only while the sg_call it is given has not returned,
 *                       on the thread that is running that call
 *  Blocking  A function given a sg_call may block. It must return soon after
 *            the call is cancelled; host->wait() makes that easy.
 */
#ifndef SG_PLUGIN_H
#define SG_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SG_ABI_MAJOR 1u
#define SG_ABI_MINOR 0u

/* Linux. cancel_fd and the other descriptors are POSIX ones. */
/* Whether *p, a struct of `type` that the other side filled in, reaches as far as `field`:
   if (SG_HAS(sg_event, event, actor_state)) ... */
#define SG_HAS(type, p, field) \
  ((p)->struct_size >= offsetof(type, field) + sizeof(((const type *)0)->field))

#if defined(__GNUC__)
#define SG_EXPORT __attribute__((visibility("default")))
#else
#define SG_EXPORT
#endif

/* ---- Text and status ---------------------------------------------------- */

typedef struct sg_str {
  const char *data;
  size_t len;
} sg_str;

/* Bytes without an encoding: paths, names, contents, argv, env. */
typedef struct sg_bytes {
  const uint8_t *data;
  size_t len;
} sg_bytes;

typedef int32_t sg_status;

enum {
  SG_OK = 0,
  SG_E_FAILED = 1,      /* no better word */
  SG_E_INVALID = 2,     /* a bad argument or a bad configuration */
  SG_E_UNSUPPORTED = 3, /* this provider cannot do that */
  SG_E_NOT_FOUND = 4,
  SG_E_EXISTS = 5,
  SG_E_DENIED = 6,
  SG_E_BUSY = 7,      /* try again later */
  SG_E_TIMEOUT = 8,   /* the deadline of the call passed */
  SG_E_CANCELLED = 9, /* the call was cancelled */
  SG_E_LOST = 10,     /* the sandbox, or the peer behind it, is gone */
  SG_E_CORRUPT = 11,
  SG_E_NO_MEMORY = 12
};

/* How a failure may be handled; or-ed together for host->fail(). */
enum {
  SG_FAIL_RETRY = 1, /* the same call may succeed later */
  SG_FAIL_QUIET = 2, /* expected; log it under the debug category only */
  SG_FAIL_FINAL = 4  /* never bring this event back: set it aside and say so */
};

/* ---- Handles that only the host can look into --------------------------- */

typedef struct sg_config sg_config; /* the YAML below this instance's `with:` */

/* One command an agent runs in a sandbox. Valid as long as the sg_call it came with. */
typedef struct sg_run {
  uint32_t struct_size;
  uint32_t flags;
  sg_str id;
  sg_str thread_id;
  sg_str command;   /* as the user gave it, joined for people */
  sg_str labels;    /* JSON object of strings */
  int64_t start_ns; /* since 1970 */
} sg_run;

/* One unit of work the host asked for. Valid until the function it was passed
   to returns. */
typedef struct sg_call {
  uint32_t struct_size;
  int32_t cancel_fd;    /* readable once the call is cancelled, or -1 */
  uint64_t deadline_ns; /* on host->now_ns()'s clock, 0 when there is none */
  sg_str sandbox_id;    /* empty where no sandbox is concerned */
  const sg_run *run;    /* null outside a run */
} sg_call;

/* Where a plugin writes bytes it gives back, in as many pieces as it likes. A status other than
   SG_OK (the host has enough, or has no memory) is to be returned at once. */
typedef struct sg_out {
  uint32_t struct_size;
  uint32_t reserved;
  sg_status (*append)(struct sg_out *out, const void *data, size_t len); /* [call] */
} sg_out;

/* ---- What the host offers ----------------------------------------------- */

enum { SG_LOG_TRACE = 0, SG_LOG_DEBUG, SG_LOG_INFO, SG_LOG_WARN, SG_LOG_ERROR };

enum { SG_WAIT_READ = 1, SG_WAIT_WRITE = 2 };

enum {
  SG_CONFIG_MISSING = 0, SG_CONFIG_NULL, SG_CONFIG_BOOL, SG_CONFIG_INT, SG_CONFIG_NUM,
  SG_CONFIG_STR, SG_CONFIG_LIST, SG_CONFIG_MAP
};

/* One per instance, given to create(): keep the pointer. Valid until the instance's destroy()
   returns; diagnose() gets one that is valid during that call alone. A thread that uses it later
   is answered with nothing, and the plugin is named in the log. */
typedef struct sg_host {
  uint32_t struct_size;
  uint32_t abi_major;
  uint32_t abi_minor;
  uint32_t reserved;
  const char *name;
  const char *version;

  /* A further service, or null. See the ids below. [any] */
  const void *(*service)(const struct sg_host *host, const char *id);

  /* One entry of the log. Control characters other than newline and tab are escaped, and what
     is longer than 1 MiB is cut. `category` is a short word, or null for this plugin's own; it
     decides whether trace and debug lines are shown. [any] */
  void (*log)(const struct sg_host *host, uint32_t level, const char *category, sg_str text);
  /* Lets a caller skip building text nobody reads. [any] */
  uint32_t (*log_enabled)(const struct sg_host *host, uint32_t level, const char *category);

  uint64_t (*now_ns)(const struct sg_host *host);  /* monotonic [any] */
  int64_t (*time_ms)(const struct sg_host *host);  /* since 1970, UTC [any] */

  /* Describes why the call is about to fail and returns `status`, so that
     `return host->fail(...)` reads well. `where` names the offending
     configuration key ("endpoint.url"), or is empty: people are shown the
     file, line and column of it. The last one said in a call counts. [call] */
  sg_status (*fail)(const struct sg_host *host, sg_call *call, sg_status status,
                    uint32_t fail_flags, sg_str where, sg_str text);

  /* 1 once the call is cancelled or its deadline has passed. [call] */
  uint32_t (*cancelled)(const struct sg_host *host, const sg_call *call);
  /* Waits for `fd` (or for nothing, with fd -1) until timeout_ms (negative: no limit of its own),
     the deadline, or cancellation. events is SG_WAIT_*, or-ed. SG_OK: fd is ready or hung up;
     SG_E_TIMEOUT; SG_E_CANCELLED; SG_E_INVALID: no such descriptor. [call] */
  sg_status (*wait)(const struct sg_host *host, sg_call *call, int32_t fd, uint32_t events,
                    int32_t timeout_ms);

  /* Tells people how far long work is; total is 0 where it is not known. Cheap: lines are shown
     once a second at most. [call] */
  void (*progress)(const struct sg_host *host, sg_call *call, uint64_t done, uint64_t total,
                   sg_str what);

  /* Configuration: what YAML says below `with:`, checked against the type's
     config_schema before create(). A key is a JSON Pointer ("/retry/max"); a
     missing or null one gives the fallback. So does one of another type, or a
     duration or size that cannot be read, and then the host refuses the
     instance after create(), naming file, line and column of the key. The
     sg_config and every text stay valid as long as the instance. [any] */
  sg_str (*config_json)(const struct sg_host *host, const sg_config *config);
  uint32_t (*config_kind)(const struct sg_host *host, const sg_config *config,
                          const char *pointer); /* SG_CONFIG_* */
  sg_str (*config_str)(const struct sg_host *host, const sg_config *config, const char *pointer,
                       sg_str fallback);
  int64_t (*config_int)(const struct sg_host *host, const sg_config *config, const char *pointer,
                        int64_t fallback);
  double (*config_num)(const struct sg_host *host, const sg_config *config, const char *pointer,
                       double fallback);
  uint32_t (*config_bool)(const struct sg_host *host, const sg_config *config, const char *pointer,
                          uint32_t fallback);
  /* "700ms", "10s", "5m", "1h", "30d": a unit is required. Nanoseconds. [any] */
  int64_t (*config_duration_ns)(const struct sg_host *host, const sg_config *config,
                                const char *pointer, int64_t fallback);
  /* Bytes: "10 MB" is 10^7, "10 MiB" is 10 * 2^20, a bare number is bytes. [any] */
  int64_t (*config_size)(const struct sg_host *host, const sg_config *config, const char *pointer,
                         int64_t fallback);
  /* Elements of the list, or keys of the map, at the pointer; 0 for anything else. Keys come in
     the order of the file; past the last, and for a list, the key is empty. [any] */
  size_t (*config_count)(const struct sg_host *host, const sg_config *config, const char *pointer);
  sg_str (*config_key_at)(const struct sg_host *host, const sg_config *config, const char *pointer,
                          size_t index);
} sg_host;

/* ---- Events -------------------------------------------------------------- */

enum {
  SG_EV_FILE_CREATE = 0,
  SG_EV_FILE_CHANGE = 1,
  SG_EV_FILE_DELETE = 2,
  SG_EV_READY = 3,
  SG_EV_ERROR = 4,
  SG_EV_DESTROY = 5,
  SG_EV_RUN_START = 6,
  SG_EV_RUN_END = 7,
  SG_EV_RESCAN = 8, /* changes were missed; treat the tree as unknown */
  SG_EV_CUSTOM = 9,
  SG_EV_STATE = 10 /* a lifecycle transition; json: {"from","event","to"} */
};
/* Masks, for sg_hook.interests(). */
#define SG_EV_FILES UINT64_C(0x7)
#define SG_EV_LIFECYCLE UINT64_C(0x38)
#define SG_EV_RUNS UINT64_C(0xc0)
#define SG_EV_ALL UINT64_C(0x7ff)

enum {
  SG_EVF_REPLAY = 1,   /* delivered before, perhaps; compare seq */
  SG_EVF_SYMLINK = 2,
  SG_EVF_META_ONLY = 4 /* mode changed, content did not */
};

/* How sure it is who wrote. */
enum {
  SG_ACTOR_UNKNOWN = 0,      /* this watcher cannot tell */
  SG_ACTOR_RUN = 1,          /* a process of the run in run_id */
  SG_ACTOR_HOOK = 2,         /* a hook handler of this host */
  SG_ACTOR_HOST = 3,         /* the host itself: setup, sync */
  SG_ACTOR_OUTSIDE = 4,      /* a process of no run */
  SG_ACTOR_UNATTRIBUTED = 5  /* several runs were active; json lists them */
};

/* Valid until the function it was passed to returns; retain it to keep it. */
typedef struct sg_event {
  uint32_t struct_size;
  uint32_t kind;
  uint32_t flags;
  uint32_t reserved;
  uint64_t seq;      /* grows by one per event of one sandbox */
  int64_t time_ns;   /* since 1970 */
  sg_str id;         /* unique: "<sandbox>/<seq>" */
  sg_str sandbox_id;
  sg_str run_id;     /* of the run that did it, where that is known */
  sg_bytes path;     /* absolute inside the sandbox, for file events */
  sg_bytes relative; /* below the workspace root */
  sg_str topic;      /* "sandbox.file", ... */
  sg_str json;       /* details of lifecycle and custom events */
  sg_str actor;      /* command line of the writer, or empty */
  int32_t actor_pid; /* on this machine, or 0 */
  uint32_t actor_state;
} sg_event;

enum {
  SG_BEFORE = 0, SG_AFTER = 1, SG_DIFF = 2,
  SG_FOR_EXPORT = 16 /* or-ed in when the content will leave this host: default redaction applies */
};

/* Why content is what it is. Only SG_CONTENT_FAULT was logged as an error. */
enum {
  SG_CONTENT_HERE = 0,
  SG_CONTENT_ABSENT = 1,      /* new file before, deleted file after */
  SG_CONTENT_SAME = 2,        /* nothing differs */
  SG_CONTENT_NO_BASELINE = 3, /* not a git workspace, or no commit yet */
  SG_CONTENT_IGNORED = 4,     /* git ignores it: no diff, by design */
  SG_CONTENT_REDACTED = 5,    /* withheld by a redact pattern */
  SG_CONTENT_TOO_LARGE = 6,   /* data holds the first part; see stream() */
  SG_CONTENT_GONE = 7,        /* a replayed event whose content was not captured */
  SG_CONTENT_UNSUPPORTED = 8, /* a repository format that cannot be read */
  SG_CONTENT_FAULT = 9
};
enum {
  SG_CF_BINARY = 1,
  SG_CF_LATE = 2,    /* read after the event, may be newer */
  SG_CF_SYMLINK = 4, /* data is the link's target text */
  SG_CF_EXECUTABLE = 8,
  SG_CF_MASKED = 16, /* declared secrets were masked: not applicable as a patch */
  SG_CF_LFS_POINTER = 32 /* the local LFS store lacks the content: its pointer stands for it */
};

typedef struct sg_content {
  uint32_t struct_size; /* set by the plugin */
  uint32_t state;
  uint32_t flags;
  uint32_t mode;
  sg_bytes data;        /* lives as long as the event */
  uint64_t full_size;
  sg_str sha256;        /* hex, of the whole; empty where withheld */
} sg_content;

#define SG_SERVICE_EVENT "sandglass.event/1"
typedef struct sg_event_service {
  uint32_t struct_size;
  uint32_t reserved;
  /* Reads a file or the baseline the first time it is asked, then remembers
     within a bound. Never fails: see state. May block; honours the call. [call] */
  void (*content)(const sg_host *host, sg_call *call, const sg_event *event, uint32_t which,
                  sg_content *out);
  /* The same without the size cap and without remembering. [call] */
  sg_status (*stream)(const sg_host *host, sg_call *call, const sg_event *event, uint32_t which,
                      sg_out *out);
  void (*retain)(const sg_host *host, const sg_event *event);  /* [any] */
  void (*release)(const sg_host *host, const sg_event *event); /* [any] */
  /* Publishes a custom event on the sandbox's stream. [any] */
  sg_status (*emit)(const sg_host *host, sg_str sandbox_id, sg_str topic, sg_str json);
  /* Ends the run with a reason, as an audit that cannot write must. [any] */
  sg_status (*end_run)(const sg_host *host, sg_str sandbox_id, sg_str run_id, sg_str reason);
} sg_event_service;

/* ---- Sandboxes, as seen by the host, watchers and hooks ------------------ */

typedef struct sg_sandbox_spec {
  uint32_t struct_size;
  uint32_t flags;
  sg_str key;        /* stable identity; equal inputs give an equal key */
  sg_str owner;      /* this host installation; see sg_held */
  sg_str root;       /* workspace root inside, "/workspace" */
  sg_str local_root; /* a directory of this machine to be the workspace, or empty */
  sg_str json;       /* the whole definition without secrets, canonical JSON */
  sg_str secrets;    /* JSON object of strings: into the environment, nowhere else */
  sg_str snapshot;   /* restore this one, or empty */
} sg_sandbox_spec;

enum {
  SG_EXEC_TTY = 1,   /* a terminal of rows x columns, stderr joins stdout */
  SG_EXEC_STDIN = 2  /* feed sg_io.read to the command; else it reads end-of-file */
};

typedef struct sg_exec {
  uint32_t struct_size;
  uint32_t flags;
  const sg_bytes *argv; /* argc of them; run without a shell */
  size_t argc;
  const sg_bytes *env;  /* "NAME=value", envc of them, set inside the sandbox */
  size_t envc;
  sg_bytes cwd;
  sg_str tag;         /* marks every process of this call, for attribution and reaping */
  uint32_t rows;
  uint32_t columns;
} sg_exec;

/* How a command ended. */
enum {
  SG_EXIT_CODE = 0,      /* value is its exit code */
  SG_EXIT_SIGNAL = 1,    /* value is the signal that ended it */
  SG_EXIT_NOT_FOUND = 2, /* no such program, value is errno */
  SG_EXIT_BAD_CWD = 3
};

enum { SG_EXITF_OOM = 1, SG_EXITF_CORE = 2 };

typedef struct sg_exit {
  uint32_t struct_size; /* set by the caller */
  uint32_t how;
  int32_t value;
  uint32_t flags;
  uint32_t survivors;   /* processes of the call still alive, left on purpose */
  uint32_t reserved;
} sg_exit;

/* What exec started: how the host tells runs apart. */
typedef struct sg_started {
  uint32_t struct_size;
  int32_t pid;        /* on this machine, or 0 */
  int32_t pidfd;      /* borrowed until started() returns, or -1 */
  uint32_t reserved;
  uint64_t cgroup_id; /* of a cgroup that holds this call alone, or 0 */
} sg_started;

/* A command's input and output while it runs, or a file's or archive's bytes. */
typedef struct sg_io {
  uint32_t struct_size;
  int32_t read_fd; /* readable when read() will not block, or -1; only for polling */
  /* Once, before any output. Null where nothing is started. [call] */
  sg_status (*started)(struct sg_io *io, const sg_started *what);
  /* stream is 1 or 2. Blocks when the reader is slow. [call] */
  sg_status (*write)(struct sg_io *io, int32_t stream, const void *data, size_t len);
  /* *len is 0 at the end. Blocks until there is some. [call] */
  sg_status (*read)(struct sg_io *io, void *data, size_t room, size_t *len);
} sg_io;

#define SG_SERVICE_SANDBOX "sandglass.sandbox/1"
typedef struct sg_sandbox_service {
  uint32_t struct_size;
  uint32_t reserved;
  sg_status (*exec)(const sg_host *host, sg_call *call, sg_str sandbox_id, const sg_exec *exec,
                    sg_io *io, sg_exit *exit); /* [call] */
  sg_status (*read)(const sg_host *host, sg_call *call, sg_str sandbox_id, sg_bytes path,
                    uint64_t offset, uint64_t max_bytes, sg_out *out); /* [call] */
} sg_sandbox_service;

/* Children of plugins on this machine: the host starts, tags, limits and reaps
   them, and ends whole trees. Use it instead of fork. */
#define SG_SERVICE_PROCESS "sandglass.process/1"
typedef struct sg_process_service {
  uint32_t struct_size;
  uint32_t reserved;
  sg_status (*run)(const sg_host *host, sg_call *call, const sg_exec *exec, sg_io *io,
                   sg_exit *exit); /* [call] */
  /* Both reach the command that this instance runs with this tag now, from io->started() until it
     has ended; else SG_E_NOT_FOUND. Tags of other instances are out of reach. */
  /* Sends a signal to its process group; 0 asks only whether it runs. [any] */
  sg_status (*signal)(const sg_host *host, sg_str tag, int32_t signo);
  /* Gives its terminal another size, and its foreground a SIGWINCH. SG_E_INVALID where it runs
     without SG_EXEC_TTY. [any] */
  sg_status (*resize)(const sg_host *host, sg_str tag, uint32_t rows, uint32_t columns);
} sg_process_service;

/* One name, as a listing or a stat tells it. Times are ns since 1970; what is not
   known is 0. */
typedef struct sg_entry {
  uint32_t struct_size;
  uint32_t type; /* 'f', 'd', 'l', or 'o' for anything else */
  uint32_t mode;
  uint32_t reserved;
  uint64_t size;
  uint64_t inode;
  int64_t mtime_ns;
  int64_t ctime_ns;
  sg_bytes name;
} sg_entry;

typedef struct sg_entry_sink {
  uint32_t struct_size;
  uint32_t reserved;
  sg_status (*add)(struct sg_entry_sink *sink, const sg_entry *const *entries, size_t count); /* [call] */
} sg_entry_sink;

/* A sandbox or snapshot that a provider still holds. */
enum { SG_HELD_RUNNING = 0, SG_HELD_STOPPED = 1, SG_HELD_BROKEN = 2, SG_HELD_SNAPSHOT = 3 };
typedef struct sg_held {
  uint32_t struct_size;
  uint32_t state;
  sg_str id;
  sg_str key;   /* sg_sandbox_spec.key it was made from */
  sg_str owner; /* sg_sandbox_spec.owner */
  int64_t created_ns;
} sg_held;

typedef struct sg_held_sink {
  uint32_t struct_size;
  uint32_t reserved;
  sg_status (*add)(struct sg_held_sink *sink, const sg_held *held); /* [call] */
} sg_held_sink;

/* ---- Kinds of plugin ------------------------------------------------------ */

/* Masks, for sg_provider.capabilities(). */
#define SG_CAP_BACKGROUND UINT64_C(0x1)    /* processes outlive their call */
#define SG_CAP_STDIN UINT64_C(0x2)
#define SG_CAP_TTY UINT64_C(0x4)
#define SG_CAP_KILL UINT64_C(0x8)          /* whole trees, proven */
#define SG_CAP_SNAPSHOT UINT64_C(0x10)
#define SG_CAP_FORK UINT64_C(0x20)
#define SG_CAP_PORTS UINT64_C(0x40)
#define SG_CAP_NETWORK_POLICY UINT64_C(0x80)
#define SG_CAP_DURABLE_DISK UINT64_C(0x100)
#define SG_CAP_LOCAL_PATH UINT64_C(0x200)  /* the workspace is visible on this machine */
#define SG_CAP_ISOLATES UINT64_C(0x400)    /* a boundary, not a convention */

/* Creates and drives sandboxes. A sandbox is known by the id create() wrote,
   never by a pointer, so it outlives the plugin, the process and the host. */
#define SG_KIND_PROVIDER "sandglass.provider/1"
typedef struct sg_provider {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t (*capabilities)(void *self); /* [any] */
  /* Writes the id as soon as there is something to destroy, even if it then fails. [box] */
  sg_status (*create)(void *self, sg_call *call, const sg_sandbox_spec *spec, sg_out *id);
  sg_status (*destroy)(void *self, sg_call *call, sg_str id); /* [box] */
  /* SG_OK only once the command has exited and its output was delivered.
     Cancelled, or past its deadline, it first ends every process that carries
     exec->tag, also those that left the process group. [any] */
  sg_status (*exec)(void *self, sg_call *call, sg_str id, const sg_exec *exec, sg_io *io,
                    sg_exit *exit);
  /* All this provider still holds for spec.owner: what a restarted host re-attaches
     or reaps. [any] */
  sg_status (*list)(void *self, sg_call *call, sg_str owner, sg_held_sink *sink);
  /* Returns SG_OK once the sandbox is gone by itself; how "lost" is learnt. [any] */
  sg_status (*wait_gone)(void *self, sg_call *call, sg_str id);

  /* Optional from here on. A path's last component is never followed. */
  sg_status (*resume)(void *self, sg_call *call, sg_str id);                                 /* [box] */
  /* To the processes that exec started with this tag, also those it left running;
     SG_E_NOT_FOUND where there is none. 0 only asks. [any] */
  sg_status (*signal)(void *self, sg_call *call, sg_str id, sg_str tag, int32_t signo);
  /* Of the terminal of a running exec. It holds from its io->started() on. [any] */
  sg_status (*resize)(void *self, sg_call *call, sg_str id, sg_str tag, uint32_t rows,
                      uint32_t columns);
  /* SG_CAP_LOCAL_PATH: where the workspace lies on this machine. [any] */
  sg_status (*local_path)(void *self, sg_call *call, sg_str id, sg_out *path);
  sg_status (*stat)(void *self, sg_call *call, sg_str id, sg_bytes path, sg_entry *entry,
                    sg_out *link_target);                                                    /* [any] */
  sg_status (*list_dir)(void *self, sg_call *call, sg_str id, sg_bytes path,
                        sg_entry_sink *sink);                                                /* [any] */
  sg_status (*read)(void *self, sg_call *call, sg_str id, sg_bytes path, uint64_t offset,
                    uint64_t max_bytes, sg_out *out);                                        /* [any] */
  /* Temporary name, then rename; mode from `as`. [any] */
  sg_status (*write)(void *self, sg_call *call, sg_str id, sg_bytes path, const sg_entry *as,
                     sg_io *data);
  sg_status (*remove)(void *self, sg_call *call, sg_str id, sg_bytes path);                  /* [any] */
  /* A tar stream unpacked below `path`; `path` packed into one. [any] */
  sg_status (*put_archive)(void *self, sg_call *call, sg_str id, sg_bytes path, sg_io *io);
  sg_status (*get_archive)(void *self, sg_call *call, sg_str id, sg_bytes path, sg_io *io);
  sg_status (*snapshot)(void *self, sg_call *call, sg_str id, sg_out *snapshot);             /* [box] */
  sg_status (*snapshots)(void *self, sg_call *call, sg_str owner, sg_held_sink *sink);       /* [any] */
  sg_status (*snapshot_delete)(void *self, sg_call *call, sg_str snapshot);                  /* [any] */
  sg_status (*fork)(void *self, sg_call *call, sg_str id, const sg_sandbox_spec *spec,
                    sg_out *new_id);                                                         /* [box] */
  sg_status (*forward)(void *self, sg_call *call, sg_str id, uint32_t port, sg_out *address); /* [any] */
} sg_provider;

/* The host keeps one tree of what it has reported for each sandbox and decides
   alone what is a create, a change or a delete. A watcher only tells it where to
   look, or, when the host cannot look itself, what is there. */
enum {
  SG_HINT_ENTRY = 0,   /* look at path */
  SG_HINT_TREE = 1,    /* look at path and all below it */
  SG_HINT_LOST = 2,    /* hints were missed: look everywhere, and say so */
  SG_HINT_CREATED = 3, /* facts, from a watcher whose tree the host cannot see */
  SG_HINT_CHANGED = 4,
  SG_HINT_DELETED = 5,
  SG_HINT_BLIND = 6,   /* no hints come for path and all below it, */
  SG_HINT_SEEING = 7   /* or they come again */
};
/* What the kernel said: a stat that shows nothing new must not hide a write. */
enum {
  SG_HINTF_DATA = 1, SG_HINTF_META = 2, SG_HINTF_BORN = 4, SG_HINTF_GONE = 8, SG_HINTF_CLOSED = 16
};

typedef struct sg_hint {
  uint32_t struct_size;
  uint32_t kind;
  uint32_t flags; /* SG_HINTF_*, or 0 from a watcher that compares and cannot know */
  int32_t pid;    /* of the writer on this machine, or 0 */
  int32_t pidfd;  /* borrowed until the call returns, or -1 */
  uint32_t reserved;
  uint64_t seen_ns; /* host->now_ns() right after the kernel told, or 0 */
  sg_bytes path;    /* below the target's root */
} sg_hint;

typedef struct sg_watch_target {
  uint32_t struct_size;
  uint32_t interval_ms;  /* for those who poll */
  sg_str sandbox_id;
  sg_bytes root;          /* inside the sandbox */
  sg_bytes local_root;    /* on this machine, or empty */
  const sg_bytes *ignore; /* names of directories: pruned with all below */
  size_t ignore_count;
} sg_watch_target;

/* Every function: on any thread while run() has not returned. */
/* All entries of one directory; where it could not be read to its end, `complete` is 0 and no
   name that is missing counts as deleted. */
typedef struct sg_listing {
  uint32_t struct_size;
  uint32_t complete;
  sg_bytes directory; /* below the target's root; empty for the root */
  const sg_entry *const *entries;
  size_t count;
} sg_listing;

typedef struct sg_watch_sink {
  uint32_t struct_size;
  uint32_t reserved;
  /* The tree has been seen once; changes from now on will be reported. */
  void (*ready)(struct sg_watch_sink *sink);
  /* The host copies. SG_E_CANCELLED asks the watcher to stop. */
  sg_status (*hints)(struct sg_watch_sink *sink, const sg_hint *const *hints, size_t count);
  /* All entries of one directory; incomplete ones never mean a delete. */
  sg_status (*listing)(struct sg_watch_sink *sink, sg_bytes directory,
                       const sg_entry *const *entries, size_t count, uint32_t complete);
  /* For people: mode, reason, watches used, limit. */
  void (*state)(struct sg_watch_sink *sink, sg_str json);
  /* Many directories of one look, judged at once: deletes come first, also those of names that
     went from one of them to another. A later one of the same directory replaces an earlier. */
  sg_status (*listings)(struct sg_watch_sink *sink, const sg_listing *const *listings,
                        size_t count);
} sg_watch_sink;

/* Tells where something changed below a directory. run() has a thread of its own
   and returns when the call is cancelled, after telling what it already knows. */
#define SG_KIND_WATCHER "sandglass.watcher/1"
typedef struct sg_watcher {
  uint32_t struct_size;
  uint32_t reserved;
  sg_status (*run)(void *self, sg_call *call, const sg_watch_target *target,
                   sg_watch_sink *sink); /* [any] */
  /* SG_OK: could watch it; else why not. Touches nothing. [any] */
  sg_status (*probe)(void *self, sg_call *call, const sg_watch_target *target);
  /* Returns once every change made before the call is in that sandbox's sink. [any] */
  sg_status (*flush)(void *self, sg_call *call, sg_str sandbox_id);
} sg_watcher;

/* Reacts to events: an audit store, a webhook, a notifier. SG_OK acknowledges
   the event; under `delivery: durable` anything else brings it back. */
#define SG_KIND_HOOK "sandglass.hook/1"
typedef struct sg_hook {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t (*interests)(void *self); /* SG_EV_* masks; asked once [self] */
  sg_status (*on_event)(void *self, sg_call *call, const sg_event *event); /* [self] */
  /* Optional: many at once, in order. *accepted is how many are done with. [self] */
  sg_status (*on_batch)(void *self, sg_call *call, const sg_event *const *events, size_t count,
                        size_t *accepted);
  /* Optional: called every `flush:` interval and before destroy. [self] */
  sg_status (*flush)(void *self, sg_call *call);
} sg_hook;

/* ---- The table a plugin exports ------------------------------------------- */

enum {
  SG_TYPE_CONCURRENT = 1,   /* [self] functions may run at once */
  SG_TYPE_OWN_THREADS = 2,  /* starts threads; destroy() joins them */
  SG_TYPE_NEEDS_PROCESS = 4, /* load only with isolation: process (a Go runtime, say) */
  SG_TYPE_LISTS = 8 /* a watcher that tells by listings and facts what is there, near or far: the
                       host does not look itself */
};

typedef struct sg_type {
  uint32_t struct_size;
  uint32_t flags;
  const char *kind;          /* SG_KIND_* */
  const char *name;          /* what YAML says after `use:`, unique in the plugin */
  const char *summary;       /* one line */
  const char *config_schema; /* JSON Schema of `with:`, or null */
  const void *methods;       /* sg_provider, sg_watcher or sg_hook, as kind says */
  sg_status (*create)(const sg_host *host, sg_call *call, const sg_config *config, void **self); /* [any] */
  void (*destroy)(void *self); /* no call is running, none will follow; within 5 s */
  /* Optional: what `doctor` shows: can it work here, and what is missing. [any] */
  sg_status (*diagnose)(const sg_host *host, sg_call *call, const sg_config *config, sg_out *json);
} sg_type;

typedef struct sg_plugin {
  uint32_t struct_size;
  uint32_t abi_major; /* SG_ABI_MAJOR, as compiled */
  uint32_t abi_minor; /* SG_ABI_MINOR, as compiled */
  uint32_t abi_minor_needed; /* refuses older hosts; 0 where nothing newer is needed */
  const char *id;     /* "com.example.audit" */
  const char *version;
  const char *license; /* SPDX */
  const char *url;
  const sg_type *const *types; /* null ends it */
} sg_plugin;

SG_EXPORT extern const sg_plugin sg_plugin_v1;

#ifdef __cplusplus
}
#endif

#endif /* SG_PLUGIN_H */
