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

// before(), after() or diff() of a file event. Called on handler threads, by several at once. What
// it captures must stay valid until a call it has begun returns, also on a thread that was left
// behind: hold it by shared_ptr.
using ContentSource =
    std::function<git::Piece(const Event& event, git::Which which, bool for_export)>;

struct Handler {
  std::string name;  // for logs: the binding's name or "log"
  std::shared_ptr<plugin::Instance> instance;
  // In YAML order. An event that matches several is delivered once for each, onFile before the
  // typed.
  std::vector<uint64_t> masks;             // of 1 << EventKind
  int64_t time_limit_ns = 10'000'000'000;  // of one call, an event or a batch of up to 64
  // At least once, in order, also through kill -9 and restarts (rule H7). Its place is kept in the
  // journal under `name`; what it does not take is offered again until it does.
  bool durable = false;
};

// What the last drain() has reported already is not counted again.
struct DrainReport {
  // Events that some handlers asked for and had not got at the deadline, and their names.
  struct Part {
    uint64_t events = 0;
    std::vector<std::string> hooks;
  };
  Part late;      // lost to them
  Part kept;      // durable ones get them later
  Part given_up;  // lost to handlers of which it was said that they get no more events
};

// A call that overstays is cancelled; if it does not return within a further second, its thread and
// instance are left behind for good, and the handler gets no more events. The journal must outlive
// the dispatcher; one thread at a time may use it.
class Dispatcher {
 public:
  // Handlers see events after the journal's present end; durable ones go on where they were, or
  // begin at that end when they are new. `content` is called on handler threads.
  static std::unique_ptr<Dispatcher> start(Journal& journal, std::vector<Handler> handlers,
                                           ContentSource content);
  virtual ~Dispatcher() = default;  // stop()

  // Waits until every handler is done with all events up to the journal's present last_seq.
  virtual DrainReport drain(int timeout_ms) = 0;
  // Whether some durable handler has not taken all events up to the journal's present last_seq.
  virtual bool owes() const = 0;
  // Cancels running calls, flushes handlers, joins; a thread stuck in a plugin is left behind after
  // the deadline and its instance is never destroyed.
  virtual void stop(int timeout_ms) = 0;
};

// The HostServices a hook instance needs (content, stream, retain, release, emit), to be put into
// plugin::Instance::create. It works for events that a Dispatcher delivers, and for those a plugin
// keeps. All content that the events of one handler hold is bounded by 32 MiB: beyond it content()
// says SG_CONTENT_TOO_LARGE, and stream() still serves. emit() takes topics that do not begin with
// "sandbox." and up to 64 KiB of JSON; while the journal is backlogged it says SG_E_BUSY. The
// services may outlive the journal.
plugin::HostServices event_services(Journal& journal);

}  // namespace sandglass
