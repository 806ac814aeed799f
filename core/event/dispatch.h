// Brings events to hook handlers: one thread and one cursor per handler, so a slow one delays
// neither the watcher, the run, nor another handler (rules H4 to H6).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "event/journal.h"
#include "git/content.h"
#include "plugin/instance.h"

namespace sandglass {

// before(), after() or diff() of a file event.
using ContentSource =
    std::function<git::Piece(const Event& event, git::Which which, bool for_export)>;

struct Handler {
  std::string name;                 // for logs: the binding's name or "log"
  std::shared_ptr<plugin::Instance> instance;
  // In YAML order. An event that matches several is delivered once for each, onFile before the typed.
  std::vector<uint64_t> masks;      // of 1 << EventKind
  int64_t time_limit_ns = 10'000'000'000;
};

struct DrainReport {
  uint64_t undelivered = 0;         // events that some handler had not got at the deadline
  std::vector<std::string> late;    // those handlers' names
};

class Dispatcher {
 public:
  // Handlers see events after the journal's present end. `content` is called on handler threads.
  static std::unique_ptr<Dispatcher> start(Journal& journal, std::vector<Handler> handlers,
                                           ContentSource content);
  virtual ~Dispatcher() = default;  // stop()

  // Waits until every handler is done with all events up to the journal's present last_seq.
  virtual DrainReport drain(int timeout_ms) = 0;
  // Cancels running calls, flushes handlers, joins; a thread stuck in a plugin is left behind after
  // the deadline and its instance is never destroyed.
  virtual void stop(int timeout_ms) = 0;
};

// The HostServices a hook instance needs (content, stream, retain, release, emit), to be put into
// plugin::Instance::create. It works only for events that a Dispatcher is delivering.
plugin::HostServices event_services(Journal& journal);

}  // namespace sandglass
