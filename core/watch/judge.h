// Decides what is a create, a change or a delete by comparing the disk with the tree of what has
// been reported. Hints only say where to look; each name is looked at once a batch, so renames,
// exchanges and names that came and went in between come out right without being followed.
//
// Rules it keeps: deletes of a batch come before its creates; directories make no events; a path is
// in a batch at most once, or twice as delete then create where it became another kind of thing.
//
// Holding: an open writer makes a creation and writes before its close. So a regular file with one
// name, created or written and not closed yet, waits for its close or kHoldNs, whichever is first:
// one save is one event, a long write is one change per window.
//
// Not thread-safe: its owner serialises. What a call returns has been entered in the tree and must
// be handed on (or, before ready, dropped) in order.
#pragma once

#include <sandglass/plugin.h>

#include <cstdint>
#include <deque>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "watch/change.h"
#include "watch/disk.h"
#include "watch/tree.h"

namespace sandglass::watch {

// One hint of a watcher. The path is below the root, without empty, "." or ".." components.
struct Hint {
  uint32_t kind = SG_HINT_ENTRY;  // ENTRY, TREE, or the facts CREATED, CHANGED, DELETED
  uint32_t flags = 0;             // SG_HINTF_*
  int32_t pid = 0;
  int64_t seen_ns = 0;
  std::string_view path;
};

// One entry of a listing by a watcher that looked itself.
struct Entry {
  std::string_view name;
  Seen seen;
};
// What a directory holds. An incomplete one deletes nothing.
struct Listing {
  std::string_view dir;
  std::span<const Entry> entries;
  bool complete = true;
};

constexpr int64_t kHoldNs = 20'000'000;
constexpr int64_t kRetryNs = 100'000'000;  // a look that failed for want of resources
constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

class Judge {
 public:
  // With a `local_root` it looks for itself; without, only facts and listings tell it anything.
  Judge(std::string local_root, std::vector<std::string> ignore);

  // Opens the root and reads the tree for the first time: nothing to report.
  Status begin();

  std::vector<FileChange> hints(std::span<const Hint> hints);
  // Looks at what is held: due by now, or all of it.
  std::vector<FileChange> release(int64_t now_ns, bool all);
  // When the first held name is due, or kNever.
  int64_t next_due() const { return next_due_; }
  // Compares the directory and all below it with the disk; "" is the whole tree, whose root is
  // opened anew by its path. Without `hinted` no hints came for it, and less is taken on trust.
  std::vector<FileChange> compare(std::string_view path, bool hinted);
  // Everything, after a `rescan`: hints were missed. Where it cannot look, the watcher's next
  // listings tell the rest.
  std::vector<FileChange> rescan();
  // What one look of the watcher found: one batch.
  std::vector<FileChange> listings(std::span<const Listing> listings);

  bool looks() const { return !local_root_.empty(); }
  bool root_there() const { return !looks() || disk_.is_open(); }
  bool knows_dir(std::string_view path) const;
  const Tree& tree() const { return tree_; }
  size_t held() const { return held_.size(); }

 private:
  struct Cause {  // the hints folded into one look
    uint32_t flags = 0;
    Writers writers;
    bool whole = false;  // compare all below, too
    bool echo = false;   // came from another name of the same file
    int64_t seen_ns = 0;
    void fold(const Cause& other);
  };
  struct Dirty {
    std::string_view path;
    Cause cause;
  };
  struct Held {
    Cause cause;
    int64_t due_ns = 0;
  };
  struct ToWalk {
    Dir* dir;
    bool was_away;  // it went from its place and is back, or is another one
  };
  struct News {  // a create (the node is fresh) or a change to be told
    Node* node;
    Cause cause;
    bool meta;
  };
  // Where a path leads: the deepest known directory and the next name below it.
  struct Place {
    Dir* dir = nullptr;  // null: below an ignored directory
    std::string_view path, dir_path, name;
    bool cut = false;  // `path` is only the known beginning of what was asked for
  };

  // judge.cc: what to look at, and what to tell
  void mark(std::string_view path, const Cause& cause);
  void mark_other_names(const Node* node, const Cause& cause);
  Place place_of(std::string_view path);
  void tell(Node* node, const Cause& cause, bool meta);
  void drop(Node* node, const Cause& cause);
  void drop_below(Dir* dir, const Cause& cause);
  bool ignored(std::string_view name) const;
  std::vector<FileChange> finish();
  void end_batch();

  // judge_look.cc: looking
  void look_at_marked(bool may_hold);
  void look_at(std::string_view path, Cause cause, bool may_hold);
  void look_at_root(const Cause& cause);
  void visit(const Place& place, const Seen& seen, Cause cause, bool may_hold);
  bool must_wait(const Node* node, const Seen& seen, const Cause& cause) const;
  void hold(std::string_view path, const Cause& cause, int64_t due_ns);
  Node* meet(Dir* dir, std::string_view name, const Seen& seen, const Cause& cause);
  void walk_all();
  void walk(Dir* dir, bool was_away);
  bool tells_of_itself(const Dir* dir, const std::string& dir_path, std::string_view name);
  void drop_unmet(Dir* dir, const std::string* path, const Cause& cause);

  // judge_told.cc: facts and listings
  void fact(const Hint& hint);
  void list(const Listing& listing);
  Dir* make_dirs(std::string_view path, const Cause& cause);

  std::string local_root_;  // links resolved once, by begin()
  const std::vector<std::string> ignore_;
  Disk disk_;
  Tree tree_;
  std::unordered_map<std::string, Held> held_;
  int64_t next_due_ = kNever;

  // One batch.
  uint32_t batch_ = 1;
  std::vector<Dirty> dirty_;
  size_t looked_at_ = 0;  // entries before it are done with
  std::unordered_map<std::string_view, size_t> dirty_at_;
  std::deque<std::string> texts_;  // paths that no hint's memory holds
  std::vector<FileChange> deletes_;
  std::vector<News> news_;
  std::vector<ToWalk> to_walk_;
  Writers came_with_;  // who moved the directory that is being walked here, with all below
  bool awaits_ =
      false;  // who made it is known: what is below tells of itself, with its own writers
  int64_t looked_ns_ = 0;
  bool hinted_ = false;    // this batch is an audit: walks find only what no hint can tell
  std::string memo_path_;  // the directory of the last hint
  Dir* memo_ = nullptr;

  // Scratch of the walks.
  uint32_t walk_ = 0;
  std::vector<Listed> listed_;
  std::vector<Node*> nodes_;
};

}  // namespace sandglass::watch
