// before(), after() and diff() of a sandbox's events: those of the present box, and of earlier
// boxes whose events a durable hook has not had.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "event/event.h"
#include "git/content.h"

namespace sandglass::sandbox {

// Any thread.
class Contents {
 public:
  explicit Contents(git::ContentOptions options) : options_(std::move(options)) {}

  // A box whose events begin at first_seq; it is opened when it is asked first. Nothing of it is
  // known before it is added: its events are answered with PieceState::no_baseline.
  void add(uint64_t first_seq, git::Baseline baseline, std::string workspace);

  git::Piece get(const Event& event, git::Which which, bool for_export);
  // The newest box's, or null where it cannot be opened. Lives as long as this object.
  git::Content* newest();
  // The same, compared with the files as they were at ready; null where nobody looked then.
  git::Content* newest_at_ready();

 private:
  struct Box {
    git::Baseline baseline;
    std::string workspace;
    std::shared_ptr<git::Content> content, at_ready;
    bool failed = false;
  };
  std::shared_ptr<git::Content> open(Box& box);  // under mutex_

  const git::ContentOptions options_;
  std::mutex mutex_;
  std::map<uint64_t, Box> boxes_;  // by first_seq
};

}  // namespace sandglass::sandbox
