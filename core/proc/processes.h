// Who is who on this machine, also those who are no more: a table of processes fed by the kernel,
// so that the writer of a file has a command and a descent even when it lived for a millisecond
// only.
//
// A label is a number that a process gets by mark() and that all it starts inherit, however they
// detach: how a run, or a hook, knows its own. The host is labelled by itself.
//
// One owner thread takes what the kernel tells; a look-up takes what is queued first, so the writer
// of an event that the kernel has told of is always known. Every fork and exec of the machine pays
// for it: only for sandboxes whose watcher tells writers.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>

#include "base/fd.h"
#include "base/result.h"
#include "proc/process_source.h"

namespace sandglass::proc {

struct Process {
  int32_t pid = 0;       // on this machine
  int32_t ppid = 0;      // who started it; 0 where that is not known
  int64_t start_ns = 0;  // on mono_ns()'s clock; 0: before the table began
  int64_t exit_ns = 0;   // 0: it runs
  uint32_t label = 0;    // of the nearest process above it, or itself, that was marked; 0: none
  std::string command;   // its arguments joined by spaces, the first kCommandBytes of them; a fork
                         // has its parent's. Bytes. Empty where that was not to be had
};

class Processes {
 public:
  static constexpr uint32_t kHost = 1;  // this process and what it started unmarked
  static constexpr int64_t kKeptNs = 60'000'000'000;
  static constexpr size_t kKept = 65'536;  // of those that exited

  enum class Source { best, bpf, connector, proc };
  // Fault::unsupported with the reason where the wanted one cannot be had; `best` always can.
  static Result<std::shared_ptr<Processes>> open(Source wanted);
  // The one of this process: begun by the first that asks, ended with the last that holds it.
  static std::shared_ptr<Processes> shared();
  ~Processes();
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  // All: any thread.

  // The process that had this number at that time (0: now), if it still runs or ended a short
  // while ago.
  std::optional<Process> find(int32_t pid, int64_t at_ns);
  // A number that no other has.
  uint32_t new_label();
  // From now on it and all it started or will start carry the label.
  void mark(int32_t pid, uint32_t label);

  Source source() const { return source_kind_; }
  // "bpf", "connector: <why not bpf>", ...: for status and logs.
  const std::string& reason() const { return reason_; }

 private:
  struct Entry {
    int32_t ppid = 0;
    int64_t start_ns = 0, exit_ns = 0;
    uint32_t label = 0;
    std::shared_ptr<const std::string> command;
    std::unique_ptr<Entry> older;  // had the same number before
  };
  struct Gone {
    int64_t exit_ns;
    int32_t pid;
    int64_t start_ns;
  };

  Processes(Source kind, std::unique_ptr<ProcessSource> source, std::string reason);
  void work();
  void drain();
  void take(const ProcessEvent& event);
  void read_all();
  Entry* newest(int32_t pid);
  Entry* load(int32_t pid, int depth);
  Entry& add(int32_t pid, Entry entry);
  void forget_old(int64_t now_ns);
  std::optional<Process> read_now(int32_t pid);

  const Source source_kind_;
  const std::unique_ptr<ProcessSource> source_;  // null: /proc when asked
  const std::string reason_;
  Fd wake_;
  std::thread thread_;

  std::mutex mutex_;
  std::unordered_map<int32_t, Entry> entries_;
  std::deque<Gone> gone_;
  uint32_t last_label_ = kHost;
  bool stop_ = false;
  struct Marked {
    uint64_t start;  // as /proc says it
    uint32_t label;
  };
  std::unordered_map<int32_t, Marked> marked_;  // only where there is no source
};

}  // namespace sandglass::proc
