// A live sandbox: its provider, watcher, journal and hooks, driven through the lifecycle table.
//
// One owner, one thread: ensure() and destroy() are called by the thread that owns the object; runs
// (run.h) may overlap in between, each on a thread of its own. Events come from the watcher's
// thread through the journal, never through this class.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "event/dispatch.h"
#include "sandbox/attribution.h"
#include "git/pin.h"
#include "sandbox/contents.h"
#include "sandbox/provider.h"
#include "sandbox/state.h"
#include "sandbox/store.h"
#include "watch/session.h"

namespace sandglass::sandbox {

struct Settings {
  config::Definition definition;
  std::string workspace;  // absolute directory of this machine
  std::string thread;     // "" where the user named none
};

// Whether the box of a sandbox that no process holds was ready once, and nobody has begun to end
// it.
bool can_go_on(const InstanceRecord& record, const JournalSummary& journal);

class Sandbox {
 public:
  // Brings the sandbox to ready: provider up, baseline pinned, watcher armed, onReady queued (rule
  // L2). A definition's box that an earlier run left is resumed where the lifecycle wants it, else
  // destroyed; else its newest snapshot is restored, else a box is created (rule L4). Durable hooks
  // get at once what they have not had. Fault::busy while another process has it. On failure ERROR
  // was journaled and what was half made here is destroyed; a box that was resumed is left.
  static Result<std::unique_ptr<Sandbox>> ensure(const plugin::Registry& registry,
                                                 const Store& store, Settings settings,
                                                 Cancellation& cancel);
  // Destroys the box that a process left which is no more, or whose time is over, without the file
  // that defined it: hooks do not run, but durable ones get the DESTROY event later.
  static Status reap(const plugin::Registry& registry, const Store& store, HeldInstance held,
                     const InstanceRecord& record, const std::string& why);
  ~Sandbox();  // destroy(), unless release() came first

  const InstanceRecord& record() const { return record_; }
  const config::Definition& definition() const { return settings_.definition; }
  Journal& journal() { return *journal_; }
  Provider& provider() { return *provider_; }
  Attribution& attribution() { return *attribution_; }
  git::Content* content() { return contents_->newest(); }  // null where it cannot be read
  // Compared with the files as they were at ready; null where nobody looked then.
  git::Content* content_at_ready() { return contents_->newest_at_ready(); }
  State state() const { return state_; }
  bool resumed() const { return resumed_; }
  std::string watcher_state_json() const;  // "{}" where none runs

  // Everything written before the call is journaled, published and compared with the disk.
  Status settle(int timeout_ms);
  // Waits for the hooks (rule H6); what they did not get is logged with its count.
  void drain_hooks(int timeout_ms);
  void append(EventKind kind, std::string topic, std::string json, std::string run_id = {});

  // A run is over: snapshot, then destroy() or release(), as the lifecycle says (rule L5). A
  // cancelled one is destroyed. `keep` overrides both.
  Status complete(bool cancelled, bool keep);
  // Drains watcher and hooks, then the provider destroys; bounded by 60 s in all (rule L6).
  Status destroy();
  // The same, but the box stays for a later run.
  Status release();

 private:
  Sandbox(const plugin::Registry& registry, const Store& store, Settings settings);
  struct Left;  // what an earlier process left

  // ensure.cc
  Status open(Left& left);  // lock, record, journal, hooks
  Status open_hooks();
  void note_open_run(const std::string& run);
  void drop_old_hooks(const Left& left);
  void remember_past();  // the present box's baseline, while a durable hook needs it
  Status bring_up(const Left& left, Cancellation& cancel);
  Status attach(bool& gone);
  Status end_left_box(const std::string& why);
  Status find_unrecorded_box();
  Status make_box(Cancellation& cancel);
  Result<std::string> newest_snapshot();
  Status create(const std::string& snapshot, Cancellation& cancel);
  void take_snapshot();
  void say_ready();

  Status arm();  // arming: baseline, watcher
  void pin_baseline(const std::string& local_root);
  void drop_old_pins();
  Status start_watcher(const std::string& local_root);
  void note_watching();
  void step(Trigger trigger);
  void failed(const Error& error);
  void watch_for_loss();
  void quiet_down(int64_t end_ns);
  Status destroy_box(int64_t end_ns);
  void finish(int64_t end_ns, bool has_box);

  const plugin::Registry& registry_;
  const Store& store_;
  Settings settings_;
  InstanceRecord record_;
  HeldInstance held_;
  std::unique_ptr<Journal> journal_;  // outlives all below
  std::unique_ptr<Provider> provider_;
  const std::shared_ptr<Attribution> attribution_;  // shared with hooks that were left behind
  std::unique_ptr<git::Pin> pin_;
  std::shared_ptr<Contents> contents_;
  std::unique_ptr<Dispatcher> dispatcher_;
  std::unique_ptr<watch::Session> session_;
  State state_ = State::absent;
  bool resumed_ = false;
  bool made_box_ = false;  // by this object
  bool finished_ = false;
  std::mutex settling_;  // of runs that end at once
  std::atomic<bool> gone_{false};
  Cancellation stop_waiting_;
  std::thread gone_thread_;
};

}  // namespace sandglass::sandbox
