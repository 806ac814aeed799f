// The session baseline and the accessors before(), after(), diff() against it.
//
// The workspace is hostile: no git program is run, no configuration or hook of the workspace is
// obeyed, no lock is taken, nothing below `.git` is written. Only the object database is read, by
// ourselves, every object proven by its id (rules B1, B4 to B7, rows T1 to T17).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sandglass::git {

enum class BaselineKind { none, no_commit, commit, unsupported };

// A `.gitignore` on the way from the repository's root down to the workspace, as read at ready.
struct IgnoreAbove {
  std::string directory;  // below the repository's root, "" is the root
  std::vector<std::string> lines;
  bool operator==(const IgnoreAbove&) const = default;
};

// A submodule, or a repository of its own, found below the workspace at ready.
struct Nested {
  std::string path;    // of its root, below the workspace
  std::string commit;  // hex: what the commit above records for it, else its own HEAD
  std::string tree;    // its files at ready; see Baseline::tree
  std::string objects;
  std::vector<std::string> alternates;
  bool operator==(const Nested&) const = default;
};

// What the repository says of line ends, as read at ready (rule B6a).
struct LineSettings {
  std::string autocrlf;    // core.autocrlf of its own configuration, as written; "" is unset
  std::string eol;         // core.eol
  std::string attributes;  // the text of info/attributes
  bool operator==(const LineSettings&) const = default;
};

// What is remembered of the workspace at the first ready. Plain data, stored with the instance.
struct Baseline {
  BaselineKind kind = BaselineKind::none;
  std::string commit;                   // hex
  std::string branch;                   // "main", or empty when detached; for people
  std::string objects;                  // the object directory on this machine
  std::vector<std::string> alternates;  // further object directories it borrows from
  std::string prefix;                   // workspace below the repository's root: "" or "sub/dir"
  std::string note;  // one sentence where something is odd (unsupported format, ...)
  // Patterns of the user's ignore file, then of info/exclude, as read at ready: the last match
  // wins.
  std::vector<std::string> ignore_lines;
  std::vector<IgnoreAbove> ignore_files;
  // The files as they were at ready, dirty and untracked ones too: hex id of a tree that the pin
  // keeps, for the repository's root. Empty where nobody looked. Rule B3.
  std::string tree;
  bool snapshot = false;  // before() and diff() compare with `tree`, not with the commit
  std::vector<Nested> nested;
  std::string pin;  // the folder that keeps the objects, or empty; not part of the JSON
  LineSettings line_settings;
  std::string lfs_store;  // where Git LFS keeps content on this machine; need not be there

  bool operator==(const Baseline&) const = default;

  std::string to_json() const;
  static Result<Baseline> from_json(std::string_view json);
};

// Looks at the workspace directory (and above it) and records HEAD's commit. Never fails for what
// it finds in the workspace: that gives kind none or unsupported with a note.
// The folder of a Pin keeps its objects; without one they are the repository's own.
Baseline pin_baseline(const std::string& workspace);

// The repository at this directory of the workspace, with its HEAD; nothing where there is none
// that can be read. `path` is below the workspace.
std::optional<Nested> nested_at(const std::string& workspace, const std::string& path);

enum class Which : uint32_t { before = 0, after = 1, diff = 2 };  // SG_BEFORE...

enum class PieceState : uint32_t {  // SG_CONTENT_*
  here = 0,
  absent = 1,
  same = 2,
  no_baseline = 3,
  ignored = 4,
  redacted = 5,
  too_large = 6,
  gone = 7,
  unsupported = 8,
  fault = 9,
};
std::string_view name_of(PieceState state);

enum PieceFlag : uint32_t {  // SG_CF_*
  piece_binary = 1,
  piece_late = 2,
  piece_symlink = 4,
  piece_executable = 8,
  piece_masked = 16,
  piece_lfs_pointer = 32,  // of a file kept by Git LFS whose content the local store lacks
};

struct Piece {
  PieceState state = PieceState::absent;
  uint32_t flags = 0;
  uint32_t mode = 0;       // git's: 0100644, 0100755, 0120000; 0 when absent
  std::string bytes;       // content or patch
  uint64_t full_size = 0;  // of the whole, also when bytes was cut
};

struct ContentOptions {
  uint64_t size_cap = 10'000'000;   // bytes of one file; beyond it T15
  std::vector<std::string> redact;  // patterns whose content nobody gets (T8a)
  bool binary_full = false;         // T14: binary patches that `git apply` takes
};

// Answers for one workspace. Safe from any thread; calls run in parallel. Paths are bytes below the
// workspace root. Never fails: a fault is logged under `errors` and gives an empty piece that says
// so; expected empties are logged under the debug category `sandbox`.
//
// A diff() names the file by its path below the workspace, also where the repository's root is
// above it: as `git diff --relative` does. Its mode is the file's now, or the baseline's when
// deleted.
//
// Line ends (rule B6a): before() is the blob as git would check it out here, after() the file as it
// lies there. diff() compares what git would store, and its lines are those: the patch is the one
// `git diff` prints and fits the commit, whatever the line ends of the checkout. In a checkout with
// this configuration `git apply` turns before() into after(), as it converts on both ways; it
// writes the line ends of a checkout also where the agent left others, and line ends alone are no
// difference. A blob with CRLF that is `text` is the exception: its patch is between before() and
// after() as they are.
//
// Git LFS (row T16a): a blob that is a pointer stands for its content, with or without attributes.
// A file with that content is the same; before() and diff() show the content where the local store
// has it, else the pointer, flagged piece_lfs_pointer.
class Content {
 public:
  static Result<std::unique_ptr<Content>> open(const Baseline& baseline,
                                               const std::string& workspace,
                                               ContentOptions options = {});
  virtual ~Content() = default;
  // for_export: it will leave this host, so what usually holds secrets is withheld too (T8b).
  virtual Piece get(std::string_view path, Which which, bool for_export = false) = 0;
};

}  // namespace sandglass::git
