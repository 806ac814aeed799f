// A live sandbox: its provider, watcher, journal and hooks, driven through the lifecycle table.
//
// One owner, one thread: ensure(), run() and destroy() are called by the thread that owns the
// object. Events come from the watcher's thread through the journal, never through this class.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "event/dispatch.h"
#include "sandbox/provider.h"
#include "sandbox/state.h"
#include "sandbox/store.h"
#include "watch/session.h"

namespace sandglass::sandbox {

struct Settings {
  config::Definition definition;
  std::string workspace;  // absolute directory of this machine
};

class Sandbox {
 public:
  // Creates a new instance and brings it to ready: provider up, baseline pinned, watcher armed,
  // onReady queued (rule L2). On failure ERROR was journaled and what was half made is destroyed.
  static Result<std::unique_ptr<Sandbox>> ensure(const plugin::Registry& registry,
                                                 const Store& store, Settings settings,
                                                 Cancellation& cancel);
  ~Sandbox();  // destroy()

  const InstanceRecord& record() const { return record_; }
  const config::Definition& definition() const { return settings_.definition; }
  Journal& journal() { return *journal_; }
  Provider& provider() { return *provider_; }
  git::Content* content() { return content_.get(); }  // null where the workspace is not visible
  State state() const { return state_; }
  std::string watcher_state_json() const;  // "{}" where none runs

  // Everything written before the call is journaled, published and compared with the disk.
  Status settle(int timeout_ms);
  // Waits for the hooks (rule H6); what they did not get is logged with its count.
  void drain_hooks(int timeout_ms);
  void append(EventKind kind, std::string topic, std::string json, std::string run_id = {});

  // Drains watcher and hooks, then the provider destroys; bounded by 60 s in all (rule L6).
  // Idempotent.
  Status destroy();

 private:
  Sandbox(const plugin::Registry& registry, const Store& store, Settings settings);
  Status open();                        // folder, journal, hooks
  Status create(Cancellation& cancel);  // creating
  Status arm();                         // arming: baseline, watcher
  Status start_watcher(const std::string& local_root);
  void step(Trigger trigger);
  void failed(const Error& error);
  void watch_for_loss();

  const plugin::Registry& registry_;
  const Store& store_;
  Settings settings_;
  InstanceRecord record_;
  HeldInstance held_;
  std::unique_ptr<Journal> journal_;  // outlives all below
  std::unique_ptr<Provider> provider_;
  std::unique_ptr<git::Content> content_;
  std::unique_ptr<Dispatcher> dispatcher_;
  std::unique_ptr<watch::Session> session_;
  State state_ = State::absent;
  std::atomic<bool> gone_{false};
  Cancellation stop_waiting_;
  std::thread gone_thread_;
};

}  // namespace sandglass::sandbox
