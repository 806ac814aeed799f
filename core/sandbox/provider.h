// A provider plugin as the sandbox sees it: the ABI's calls with our types and deadlines.
#pragma once

#include <sandglass/plugin.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "config/definition.h"
#include "plugin/instance.h"

namespace sandglass::sandbox {

// Cancels a call from another thread, also one that has not begun yet. Any thread.
class Cancellation {
 public:
  void cancel();
  bool cancelled() const;

 private:
  friend class Provider;
  void attach(plugin::Call* call);
  void detach();
  mutable std::mutex mutex_;
  plugin::Call* call_ = nullptr;
  bool cancelled_ = false;
};

// The size of the terminal that a command runs on. May change on any thread, before the command has
// started as well: it then starts with the size it has by then. One exec at a time.
class TerminalSize {
 public:
  TerminalSize(uint32_t rows, uint32_t columns) : rows_(rows), columns_(columns) {}
  // Passes it on to a running command; a provider that cannot is left alone.
  void set(uint32_t rows, uint32_t columns);

 private:
  friend class Provider;
  using Apply = std::function<void(uint32_t rows, uint32_t columns)>;
  std::pair<uint32_t, uint32_t> get() const;
  void attach(Apply apply);
  void detach();
  void push();  // the newest size, to the command that is attached
  mutable std::mutex mutex_;
  uint32_t rows_, columns_;  // under mutex_
  std::mutex pushing_;       // held while a size is passed on, so that the newest is the last
  Apply apply_;              // under pushing_
};

struct CreateSpec {
  std::string key, owner;
  std::string root;        // inside
  std::string local_root;  // a directory of this machine to be the workspace, or empty
  std::string json;        // the definition
  std::string snapshot;    // to start from, or empty
};

// A box or a snapshot that a provider still has.
struct Held {
  std::string id, key;
  uint32_t state = SG_HELD_RUNNING;  // SG_HELD_*
  int64_t created_ns = 0;
};

struct Exec {
  std::vector<std::string> argv;
  std::vector<std::string> env;
  std::string cwd;  // inside
  std::string tag;
  bool tty = false, with_input = false;
  uint32_t rows = 0, columns = 0;  // unless ExecIo has a size
  int64_t deadline_ns = 0;
};

// Called on the thread that called exec().
struct ExecIo {
  std::function<void(int stream, std::string_view bytes)> output;
  std::function<size_t(std::span<char> room)> input;  // 0 is the end
  int input_fd = -1;                                  // readable when input() will not block
  std::function<void(int pid)> started;
  TerminalSize* size = nullptr;  // with Exec::tty; outlives exec()
};

struct ExecExit {
  uint32_t how = SG_EXIT_CODE;  // SG_EXIT_*
  int32_t value = 0;
  uint32_t survivors = 0;
};

class Provider {
 public:
  static Result<std::unique_ptr<Provider>> open(const plugin::Registry& registry,
                                                const config::Use& use);

  const std::string& name() const { return instance_->type().name; }
  bool offers(uint64_t capability) const;

  // `id` is set as soon as there is something to destroy, also when the result is an error.
  Status create(const CreateSpec& spec, std::string& id, Cancellation& cancel, int64_t deadline_ns);
  Status destroy(const std::string& id, int64_t deadline_ns);
  // Fault::not_found or Fault::lost where it is gone.
  Status resume(const std::string& id, int64_t deadline_ns);
  // All boxes, and all snapshots, that were made for this owner.
  Result<std::vector<Held>> list(const std::string& owner, int64_t deadline_ns);
  Result<std::vector<Held>> snapshots(const std::string& owner, int64_t deadline_ns);
  Result<std::string> snapshot(const std::string& id, int64_t deadline_ns);
  Status snapshot_delete(const std::string& snapshot, int64_t deadline_ns);
  Result<std::string> local_path(const std::string& id, int64_t deadline_ns);
  Result<ExecExit> exec(const std::string& id, const Exec& what, ExecIo& io, Cancellation& cancel,
                        const sg_run* run);
  // What a plugin of the sandbox `sandbox_id` may ask of its box, and of no other: commands, and
  // files where the provider reads them. Any thread; may outlive the Provider.
  plugin::HostServices lend(const std::string& sandbox_id, const std::string& id) const;
  // Blocks until the sandbox is gone by itself (true) or the wait was cancelled or is not offered.
  bool wait_gone(const std::string& id, Cancellation& cancel);
  // Of the terminal of the exec with this tag. Any thread.
  Status resize(const std::string& id, const std::string& tag, uint32_t rows, uint32_t columns);

 private:
  using Lister = sg_status (*)(void* self, sg_call* call, sg_str owner, sg_held_sink* sink);
  Result<std::vector<Held>> held(Lister lister, const char* what, const std::string& owner,
                                 int64_t deadline_ns);
  Status lacks(const char* what) const;
  explicit Provider(std::shared_ptr<plugin::Instance> instance);
  Status call(const std::string& id, int64_t deadline_ns, Cancellation* cancel, const sg_run* run,
              const std::function<sg_status(void* self, sg_call* call)>& fn);

  std::shared_ptr<plugin::Instance> instance_;
  sg_provider methods_;
  uint64_t capabilities_ = 0;  // asked once
};

}  // namespace sandglass::sandbox
