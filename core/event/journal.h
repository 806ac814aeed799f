// The journal: the SQLite log of one sandbox's events, and the bus that is its head in memory.
//
// One writer thread gives each event its seq, commits what has arrived as one group as soon as it
// is idle (no timer), and only then publishes the group to a ring of the last few thousand events.
// Every subscriber is a Cursor: within the ring it never touches SQLite, behind it reads rows.
// There is no queue per subscriber to size, overflow or lose.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "event/event.h"

namespace sandglass {

class Cursor;

// Where a durable subscriber is, kept with the events so that it survives the process (rule H7).
struct Place {
  uint64_t seq = 0;        // done with all events up to here
  uint64_t kinds = 0;      // of 1 << EventKind: what it wants
  uint64_t stuck_seq = 0;  // the event it cannot get past, or 0
  int64_t since_ns = 0;    // since when (1970); 0 where it is not stuck
  bool operator==(const Place&) const = default;
};
using Places = std::map<std::string, Place>;  // by the subscriber's name

class Journal {
 public:
  struct Options {
    size_t ring = 4096;      // events held in memory
    size_t queue = 262'144;  // appended but not yet written, before backlogged() says so
  };
  // Opens or makes the file (mode 0600). seq goes on after the last stored one. A journal of a
  // newer schema is refused. One process at a time may have it open for writing (the instance's
  // lock).
  static Result<std::unique_ptr<Journal>> open(const std::string& file, Origin origin,
                                               Options options);
  static Result<std::unique_ptr<Journal>> open(const std::string& file, Origin origin);
  // Writes what was appended, then closes. What the disk refuses to the end is lost, and said.
  virtual ~Journal() = default;

  // Queues events in this order. Never blocks, never fails: a write error is logged under `errors`,
  // kept as write_error(), and tried again while the events stay queued; the recovery is said once.
  // Any thread.
  virtual void append(std::vector<Event> events) = 0;
  void append(Event event);
  // True while more than Options::queue events wait: the watcher must fold and rescan. Any thread.
  virtual bool backlogged() const = 0;
  // Why nothing can be written now, or "". Any thread.
  virtual std::string write_error() const = 0;
  // An append() for those who may outlive the journal, such as a plugin's thread that was left
  // behind: false when it took nothing, because the journal is backlogged or gone. Any thread.
  virtual std::function<bool(Event)> outlet() = 0;
  // Waits until everything appended before the call is committed and published.
  virtual Status sync(int timeout_ms) = 0;
  virtual uint64_t last_seq() const = 0;  // published
  virtual const Origin& origin() const = 0;

  // The places as they were last kept. Any thread.
  virtual Places places() const = 0;
  // Stored with the next group or soon, as soon as the disk takes it. Any thread.
  virtual void keep_place(const std::string& name, Place place) = 0;
  virtual void drop_place(const std::string& name) = 0;

  // A reader that starts after `seq` (0: from the beginning). It reads on, without waiting, where
  // it outlives the journal. Any thread; a cursor itself belongs to one thread at a time. An event
  // that was there before the reader carries event_replay.
  virtual std::unique_ptr<Cursor> subscribe(uint64_t after) = 0;
};

class Cursor {
 public:
  virtual ~Cursor() = default;
  // Up to `max` events in seq order, waiting up to timeout_ms (-1: for ever) for the first. Empty
  // on the time limit, after wake(), or once the journal is closed and read to its end; rows that
  // cannot be read are logged once and give an empty answer after a pause.
  virtual std::vector<EventPtr> next(size_t max, int timeout_ms) = 0;
  virtual uint64_t position() const = 0;  // seq of the last event returned
  // Lets a waiting next() return now. Any thread.
  virtual void wake() = 0;
};

// Reads a journal file of another, perhaps running, process, without changing it: events after
// `after`, at most `limit` and about 64 MiB of them (empty means there are no more). Opens the file
// each time: to follow a journal of this process subscribe to it.
Result<std::vector<Event>> read_journal(const std::string& file, uint64_t after, size_t limit);

struct JournalSummary {
  uint64_t events = 0, file_events = 0;
  uint64_t first_seq = 0, last_seq = 0;  // held; 0 where there is none
  int64_t first_ns = 0, last_ns = 0;     // times of the oldest and newest event held
  std::string state;                     // "to" of the newest EventKind::state event
  uint64_t ready_seq = 0;                // of the newest READY, or 0
  std::string open_run;                  // id of the newest run that has not ended, or ""
  Places places;
  std::map<std::string, uint64_t> owed;  // events that a durable subscriber wants and has not had
};
// Counts without reading the rows one by one.
Result<JournalSummary> summarize_journal(const std::string& file);

// Takes the oldest events out of a journal that nobody has open for writing: those before
// `before_ns`, and as many more as make the file about `most_bytes` large. Never one that a durable
// subscriber has not had, never the newest lifecycle state or what follows it, so that seq and
// state go on. Returns how many.
Result<uint64_t> prune_journal(const std::string& file, int64_t before_ns, uint64_t most_bytes);

}  // namespace sandglass
