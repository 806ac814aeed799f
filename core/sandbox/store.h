// The state directory: one folder per instance with what must outlive the process. Mode 0700.
//
//     <state>/schema                    version of this layout, "1"
//     <state>/names/<name>.lock         held while a named sandbox is in use
//     <state>/instances/<id>/instance.json   what never changes after ready
//     <state>/instances/<id>/journal.db      its events
//     <state>/instances/<id>/lock            held by the process that owns it
//
// Locks are flock(2) locks: the kernel releases them when their process dies. What can be read from
// the journal (state, counts) is not stored a second time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "git/content.h"

namespace sandglass::sandbox {

struct InstanceRecord {
  std::string id;           // "shop-7f3a"
  std::string name;         // of the definition, or empty
  std::string workspace;    // directory of this machine, or empty
  std::string root;         // inside, "/workspace"
  std::string provider;     // type name
  std::string provider_id;  // what the provider's create() wrote
  std::string watcher;      // type name, or empty
  int64_t created_ns = 0;
  git::Baseline baseline;
  std::vector<std::string> redact;  // patterns; what is withheld stays withheld afterwards
};

// An instance's folder with its lock held. Movable; the lock goes with it.
struct HeldInstance {
  std::string folder;
  Fd lock, name_lock;
};

class Store {
 public:
  // "" gives $XDG_STATE_HOME/sandglass, else ~/.local/state/sandglass. Made where missing; a newer
  // schema, or a directory of somebody else, is refused.
  static Result<Store> open(std::string directory);

  const std::string& directory() const { return directory_; }

  // Makes a folder for a new instance, `id` = stem + "-" + four hex digits, and locks it. A `name`
  // that another process holds is Fault::busy.
  Result<HeldInstance> make_instance(const std::string& stem, const std::string& name,
                                     std::string& id) const;
  // Takes a folder away again before it holds anything worth keeping.
  void discard(const HeldInstance& held) const;
  Status save(const HeldInstance& held, const InstanceRecord& record) const;

  // All instances with a readable record, oldest first. Unreadable ones are logged and left out.
  std::vector<InstanceRecord> list() const;
  Result<InstanceRecord> find(const std::string& id) const;
  // The newest instance whose workspace is `directory` or holds it.
  Result<InstanceRecord> latest(const std::string& directory) const;

  std::string journal_file(const std::string& id) const;
  // Whether a living process owns the instance.
  bool owned(const std::string& id) const;

 private:
  explicit Store(std::string directory) : directory_(std::move(directory)) {}
  Result<Fd> lock_name(const std::string& name) const;
  std::string folder_of(const std::string& id) const;
  std::string directory_;
};

}  // namespace sandglass::sandbox
