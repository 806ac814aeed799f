// The state directory: one folder per sandbox with what must outlive the process. Mode 0700.
//
//     <state>/schema                         version of this layout, "1"
//     <state>/owner                          random id of this installation, for providers
//     <state>/open/<id>                      there while the sandbox has a box, a process, or
//     events
//                                            that a durable hook has not had; locked by its process
//     <state>/instances/<id>/instance.json   its record
//     <state>/instances/<id>/journal.db      its events
//     <state>/instances/<id>/pins/<seq>      what keeps the baseline of the box whose events begin
//                                            at <seq>; see git/pin.h
//
// Locks are flock(2) locks: the kernel releases them when their process dies. What can be read from
// the journal (state, counts, places) is not stored a second time.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "git/content.h"

namespace sandglass::sandbox {

// A box that is gone, as long as a durable hook has not had all its events: their before() and
// diff() are against its baseline.
struct PastBox {
  uint64_t first_seq = 1;
  std::string workspace;
  git::Baseline baseline;
};

struct InstanceRecord {
  std::string id;           // "shop-7f3a"
  std::string name;         // of the definition, or empty
  std::string key;          // see key.h; empty without a definition
  std::string directory;    // of this machine, that it was asked for
  std::string workspace;    // where the workspace lies on this machine, or empty
  std::string root;         // inside, "/workspace"
  std::string provider;     // type name
  std::string provider_id;  // what the provider's create() wrote
  std::string watcher;      // type name, or empty
  std::string watching;     // its Session::state_json(), as of ready or the last run's end
  int64_t created_ns = 0;   // of the sandbox
  uint64_t first_seq = 1;   // events of the present box begin here
  git::Baseline baseline;   // of the present box
  std::vector<PastBox> past;
  std::vector<std::string> redact;  // patterns; what is withheld stays withheld afterwards
  bool binary_full = false;         // as the definition said
  std::string definition;           // canonical JSON: how to reach the provider without the file
  int64_t keep_alive_ns = 0;        // how long the box is kept after its last event; 0: not at all
};

// A sandbox's folder with its lock held. Movable; the lock goes with it.
struct HeldInstance {
  std::string id, folder;
  Fd lock;
};

class Store {
 public:
  // "" gives $XDG_STATE_HOME/sandglass, else ~/.local/state/sandglass. Made where missing; a newer
  // schema, or a directory of somebody else, is refused.
  static Result<Store> open(std::string directory);

  const std::string& directory() const { return directory_; }
  const std::string& owner() const { return owner_; }

  // Makes a folder for a new sandbox, `id` = stem + "-" + four hex digits, and holds it.
  Result<HeldInstance> make_instance(const std::string& stem) const;
  // Holds this one, and makes its folder where it is missing. Fault::busy while another process
  // does.
  Result<HeldInstance> hold(const std::string& id) const;
  // The ids below open/, sorted.
  std::vector<std::string> open_ids() const;
  // Whether a living process holds it.
  bool owned(const std::string& id) const;
  // Lets go. `done`: there is nothing left to do for it, it leaves open/.
  void let_go(HeldInstance held, bool done) const;
  // Takes the folder away with the journal in it, and lets go.
  Status remove(HeldInstance held) const;

  Status save(const HeldInstance& held, const InstanceRecord& record) const;

  // All with a readable record, oldest first. Unreadable ones are logged and left out.
  std::vector<InstanceRecord> list() const;
  // By its id, else the newest of a definition of that name.
  Result<InstanceRecord> find(const std::string& id) const;
  // By its id alone.
  Result<InstanceRecord> record(const std::string& id) const;
  // The newest one whose directory or workspace is `directory` or holds it.
  Result<InstanceRecord> latest(const std::string& directory) const;

  std::string journal_file(const std::string& id) const;
  std::string pin_folder(const std::string& id, uint64_t first_seq) const;
  void drop_pins(const std::string& id, const std::set<std::string>& but) const;
  // Bytes of its folder. A file with several names counts for its part; a link to a repository's
  // own file, as long as that is there, for nothing.
  uint64_t size_of(const std::string& id) const;

 private:
  Store(std::string directory, std::string owner)
      : directory_(std::move(directory)), owner_(std::move(owner)) {}
  std::string folder_of(const std::string& id) const;
  std::string lock_of(const std::string& id) const;
  std::string directory_, owner_;
};

}  // namespace sandglass::sandbox
