// What keeps a baseline where the sandbox cannot reach it (rule B2).
//
//     FOLDER/links/      hard links to the packs and loose objects of the repositories, made at
//     ready FOLDER/objects/    objects of our own: the files at ready, then a copy of all that is
//     needed FOLDER/state       one line: a PinWord, and why it is not more
//
// Both are object directories as git's. The copy is begun after a second by a thread that lets
// others go first, and proven object by object; then the links go. Where nothing can be linked
// (another file system) packs are held open meanwhile. Killed in the middle, the copying begins
// anew with the next resume().
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "git/content.h"
#include "git/snapshot.h"

namespace sandglass::git {

enum class PinWord { none, linked, held, copied, partial };
std::string_view name_of(PinWord word);

struct PinState {
  PinWord word = PinWord::none;
  std::string why;  // a sentence for people, where something is not kept
};
// Of a Baseline::pin; `none` for "".
PinState pin_state(const std::string& folder);

enum class Compare { head, snapshot, automatic };  // automatic: outside git the files at ready

struct PinOptions {
  std::string folder;  // made here, nobody else writes into it
  Compare compare = Compare::head;
  std::vector<std::string> skip;    // names of directories that nobody watches
  std::vector<std::string> redact;  // contents that are not kept
};

// One owner, one thread; it has one of its own.
class Pin {
 public:
  // The first ready: finds the baseline and keeps it. Never fails for what the workspace holds;
  // what could not be kept is in the state, and in the baseline's note what is not known.
  static std::unique_ptr<Pin> make(const std::string& workspace, const PinOptions& options);
  // A later one, of a baseline that has its pin: nothing of the workspace decides anything.
  static std::unique_ptr<Pin> resume(const Baseline& baseline);
  ~Pin();

  const Baseline& baseline() const { return baseline_; }
  // Begins copying, once everything else is ready.
  void start();
  // Does not let it wait any longer, and waits for it.
  void copy(int timeout_ms);
  // Ends it: at once where links keep the objects, else when they are copied or the time is over.
  void finish(int timeout_ms);

 private:
  struct Source {
    std::unique_ptr<Snapshot> snapshot;
    std::string prefix;
  };
  class Maker;
  void end();
  explicit Pin(Baseline baseline) : baseline_(std::move(baseline)) {}
  Baseline baseline_;
  std::vector<Source> sources_;  // of the commits
  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<bool> stop_{false};
  bool hurry_ = false, done_ = false;  // under mutex_
  std::thread thread_;
};

}  // namespace sandglass::git
