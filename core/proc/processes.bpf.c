// Forks, execs and exits of all processes, into one ring buffer. Only what is used of the kernel's
// types is declared; where the fields lie is filled in when the program is loaded.
typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

enum { BPF_MAP_TYPE_RINGBUF = 27 };
enum { BPF_RB_NO_WAKEUP = 1, BPF_RB_FORCE_WAKEUP = 2, BPF_RB_AVAIL_DATA = 0 };
enum { RING = 4 << 20, COMMAND = 1024 };

typedef struct {
  int counter;
} __attribute__((preserve_access_index)) atomic_t;
struct signal_struct {
  atomic_t live;
} __attribute__((preserve_access_index));
struct mm_struct {
  unsigned long arg_start, arg_end;
} __attribute__((preserve_access_index));
struct task_struct {
  int pid, tgid;
  struct mm_struct *mm;
  struct signal_struct *signal;
} __attribute__((preserve_access_index));
struct linux_binprm {
  const char *filename;
} __attribute__((preserve_access_index));

struct event { /* as source_bpf.cc reads it */
  __u32 kind;
  __s32 pid, ppid;
  __u32 size;
  __u64 at;
};
struct exec_event {
  struct event head;
  char command[COMMAND];
};

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, RING);
} ring SEC(".maps");

__u64 dropped = 0;

static __always_inline __u64 wake(void) {
  return bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > RING / 4 ? BPF_RB_FORCE_WAKEUP
                                                               : BPF_RB_NO_WAKEUP;
}

static __always_inline int tell(__u32 kind, __s32 pid, __s32 ppid) {
  struct event *e = bpf_ringbuf_reserve(&ring, sizeof *e, 0);
  if (!e) {
    __sync_fetch_and_add(&dropped, 1);
    return 0;
  }
  e->kind = kind;
  e->pid = pid;
  e->ppid = ppid;
  e->size = 0;
  e->at = bpf_ktime_get_ns();
  bpf_ringbuf_submit(e, wake());
  return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child) {
  if (child->pid != child->tgid) return 0;
  return tell(0, child->tgid, parent->tgid);
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task, int old_pid, struct linux_binprm *bprm) {
  struct exec_event *e = bpf_ringbuf_reserve(&ring, sizeof *e, 0);
  if (!e) {
    __sync_fetch_and_add(&dropped, 1);
    return 0;
  }
  e->head.kind = 1;
  e->head.pid = task->tgid;
  e->head.ppid = 0;
  e->head.at = bpf_ktime_get_ns();
  struct mm_struct *mm = task->mm;
  unsigned long from = mm->arg_start;
  unsigned long size = mm->arg_end - from;
  if (size > COMMAND) size = COMMAND;
  if (size == 0 || bpf_probe_read_user(e->command, size, (const void *)from) != 0) {
    long copied = bpf_probe_read_kernel_str(e->command, COMMAND, bprm->filename);
    size = copied > 0 ? copied : 0;
  }
  e->head.size = size;
  bpf_ringbuf_submit(e, wake());
  return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task) {
  if (task->signal->live.counter != 0) return 0; /* other threads go on */
  return tell(2, task->tgid, 0);
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
