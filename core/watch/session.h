// One watcher of one sandbox: runs the watcher plugin on a thread of its own, feeds what it tells
// to the judge (judge.h), and hands on what the judge decides.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "plugin/instance.h"
#include "watch/change.h"
#include "watch/target.h"

namespace sandglass::watch {

class Session {
 public:
  // Returns once the tree has been seen and every later change will be reported. Where the root can
  // be written, from here or by target.run, the watcher must first prove itself: it has to tell of
  // a file `.sandglass-<random>` that is made at the root and removed once it told, never reported
  // (rule W2).
  static Result<std::unique_ptr<Session>> start(std::shared_ptr<plugin::Instance> watcher,
                                                Target target, Sink sink, int timeout_ms,
                                                Choice choice = {});
  // stop(); then waits until the watcher's run() has returned. One that does not within 5 s is left
  // behind, and that is logged.
  virtual ~Session() = default;

  // Every change made before the call has reached the sink when it returns (W8).
  virtual Status flush(int timeout_ms) = 0;
  // flush(), then compares the whole tree with the disk: finds what no kernel event tells (a store
  // through a mapping, rule 17).
  virtual Status audit(int timeout_ms) = 0;
  // While true the sink's consumer is behind: hints are folded into one rescan until it is false
  // again. Called often, under the session's lock: must be cheap and must not call back.
  virtual void set_backlogged(std::function<bool()> backlogged) = 0;
  // Delivers what is known, then tells the watcher to end. Nothing is delivered after it returns.
  // The watcher itself may take longer (a kernel takes its time to drop watches).
  virtual Status stop(int timeout_ms) = 0;
  // Whether its changes say which processes made them.
  virtual bool tells_writers() const = 0;
  // {"watcher","why","passed":[{"watcher","reason"}],"root","files","dirs","held","blind",
  // "rescans", and what the watcher itself tells: "mode","reason","watches","limit"}.
  virtual std::string state_json() const = 0;
};

// A state_json() for people: mode, its reason, why this watcher and why not the better ones.
std::string describe(const std::string& state_json);

}  // namespace sandglass::watch
