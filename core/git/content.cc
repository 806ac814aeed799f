#include "git/content.h"

#include <climits>
#include <mutex>
#include <set>

#include "base/below.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/text.h"
#include "git/conversion.h"
#include "git/lfs.h"
#include "git/patch.h"
#include "git/place.h"
#include "git/redact.h"
#include "git/repositories.h"
#include "git/rules.h"

namespace sandglass::git {

namespace {

constexpr uint64_t kWholeBlob = 128u << 20;  // a larger one is not unpacked for its first part
constexpr size_t kTextsRemembered = 4096;
constexpr std::string_view kCategory = "sandbox";

// Plain components below the workspace, so that no path can mean something else.
bool is_path(std::string_view path) {
  if (path.find('\0') != path.npos || path.size() >= PATH_MAX) return false;
  for (;;) {
    const std::string_view part = path.substr(0, path.find('/'));
    if (part.empty() || part == "." || part == "..") return false;
    if (part.size() == path.size()) return true;
    path.remove_prefix(part.size() + 1);
  }
}

bool is_inside_git(std::string_view path) {
  return path == ".git" || path.starts_with(".git/") || path.find("/.git/") != path.npos ||
         path.ends_with("/.git");
}

uint32_t mode_of(uint32_t st_mode) {
  return S_ISLNK(st_mode) ? kLink : st_mode & S_IXUSR ? kExecutable : kRegular;
}

bool is_file(uint32_t mode) {
  return mode == kRegular || mode == kExecutable;
}

bool has_cr(std::string_view bytes) {
  return bytes.find('\r') != bytes.npos;
}

Piece empty(PieceState state) {
  Piece out;
  out.state = state;
  return out;
}

Piece piece_of(uint32_t mode, std::string bytes, uint64_t full_size, uint64_t cap) {
  Piece out;
  out.mode = mode;
  out.full_size = full_size;
  out.state = full_size > cap ? PieceState::too_large : PieceState::here;
  if (bytes.size() > cap) bytes.resize(cap);
  out.bytes = std::move(bytes);
  if (is_binary(out.bytes)) out.flags |= piece_binary;
  if (mode == kLink) out.flags |= piece_symlink;
  if (mode == kExecutable) out.flags |= piece_executable;
  return out;
}

class Answers : public Content {
 public:
  Answers(const Baseline& baseline, Root workspace, const ContentOptions& options)
      : baseline_(baseline),
        workspace_(std::move(workspace)),
        options_(options),
        redaction_(options.redact) {}

  Status start() {
    Result<std::unique_ptr<Repositories>> opened = Repositories::open(baseline_);
    if (!opened) return tl::unexpected(opened.error());
    tracked_ = std::move(*opened);
    rules_.emplace(baseline_, tracked_->any() ? &*tracked_ : nullptr, workspace_);
    conversion_.emplace(baseline_, tracked_->any() ? &*tracked_ : nullptr);
    if (baseline_.lfs_store.starts_with('/'))
      if (Result<Root> store = open_exact(baseline_.lfs_store))
        lfs_store_.emplace(std::move(*store));
    return {};
  }

  Piece get(std::string_view path, Which which, bool for_export) override {
    if (!is_path(path)) return fault(path, "it is no path below the workspace");
    if (for_export ? redaction_.withholds_export(path) : redaction_.withholds(path))
      return expected(path, PieceState::redacted, "its content is withheld");
    switch (which) {
      case Which::before:
        return before(path);
      case Which::after:
        return after(path, options_.size_cap);
      case Which::diff:
        return diff(path);
    }
    return fault(path, "unknown accessor");
  }

 private:
  // The baseline's entry for a path: a file or link, or nothing and the piece that says why.
  std::optional<TreeEntry> tracked(std::string_view path, Piece& why) {
    why = empty(PieceState::absent);
    if (!tracked_->knows(path)) {
      why.state = baseline_.kind == BaselineKind::unsupported ? PieceState::unsupported
                                                              : PieceState::no_baseline;
      if (why.state == PieceState::unsupported && once("unsupported"))
        log::warn("no before() and diff() here: " + baseline_.note);
      return std::nullopt;
    }
    Result<std::optional<TreeEntry>> entry = tracked_->find(path);
    if (!entry) {
      why = fault(path, entry.error().text);
      return std::nullopt;
    }
    if (!*entry || (*entry)->mode == kDirectory) return std::nullopt;
    if ((*entry)->mode == kSubmodule) {
      why = expected(path, PieceState::unsupported, "it belongs to a submodule");
      return std::nullopt;
    }
    return *entry;
  }

  Piece before(std::string_view path) {
    Piece why;
    const std::optional<TreeEntry> entry = tracked(path, why);
    if (!entry) {
      if (why.state == PieceState::absent)
        return expected(path, why.state, "new since the baseline");
      return why;
    }
    const Result<ObjectPtr> blob =
        tracked_->blob(entry->id, std::max(kWholeBlob, options_.size_cap));
    if (!blob) return fault(path, blob.error().text);
    const Object& object = **blob;
    if (const auto pointer = lfs_pointer(*entry, object))
      return stored_by_lfs(*entry, *pointer, object);
    if (entry->mode == kLink || !object.whole())
      return piece_of(entry->mode, object.bytes, object.full_size, options_.size_cap);
    const Result<LineEnds> ends = line_ends(path);
    if (!ends) return fault(path, ends.error().text);
    std::string bytes = checked_out(*ends, object.bytes);
    const uint64_t size = bytes.size();
    return piece_of(entry->mode, std::move(bytes), size, options_.size_cap);
  }

  // What a repository below the workspace says of line ends is not known.
  Result<LineEnds> line_ends(std::string_view path) {
    if (!tracked_->is_own(path)) return LineEnds::as_is;
    const std::string& prefix = baseline_.prefix;
    return conversion_->of(prefix.empty() ? std::string(path) : prefix + "/" + std::string(path));
  }

  static std::optional<LfsPointer> lfs_pointer(const TreeEntry& entry, const Object& blob) {
    return entry.mode == kLink ? std::nullopt : parse_lfs_pointer(blob.bytes);
  }

  // The content of a file kept by Git LFS, or its pointer.
  Piece stored_by_lfs(const TreeEntry& entry, const LfsPointer& pointer, const Object& blob) const {
    if (lfs_store_) {
      auto bytes = read_proven(*lfs_store_, path_in_store(pointer), pointer, options_.size_cap);
      if (bytes) return piece_of(entry.mode, std::move(*bytes), pointer.size, options_.size_cap);
    }
    Piece out = piece_of(entry.mode, blob.bytes, blob.full_size, options_.size_cap);
    out.flags |= piece_lfs_pointer;
    return out;
  }

  Piece after(std::string_view path, uint64_t cap) {
    Result<FileBytes> file = workspace_.read(path, cap);
    if (!file && file.error().fault == Fault::not_found)
      return expected(path, PieceState::absent, "there is no such file now");
    if (file) return piece_of(mode_of(file->mode), std::move(file->bytes), file->full_size, cap);
    struct stat st;
    errno = 0;
    if (workspace_.stat_below(path, st)) {
      if (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
        return expected(path, PieceState::absent, "it is neither a file nor a symbolic link now");
    } else if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP) {
      return expected(path, PieceState::absent, "there is no such file now");
    }
    return fault(path, file.error().text);
  }

  Piece diff(std::string_view path) {
    Piece why;
    const std::optional<TreeEntry> entry = tracked(path, why);
    if (entry) return diff_tracked(path, *entry);
    if (why.state == PieceState::fault || why.state == PieceState::unsupported) return why;
    Piece now = after(path, options_.size_cap);
    if (now.state == PieceState::absent || now.state == PieceState::fault) return now;
    if (std::optional<Piece> hidden = ignored(path)) return *hidden;
    if (now.mode == kLink) return patch(path, std::nullopt, now);
    const Result<LineEnds> ends = line_ends(path);
    if (!ends) return fault(path, ends.error().text);
    now.bytes = as_stored(*ends, std::move(now.bytes), "");
    return patch(path, std::nullopt, now);
  }

  std::optional<Piece> ignored(std::string_view path) {
    if (is_inside_git(path)) return expected(path, PieceState::ignored, "it is git's own");
    if (baseline_.kind == BaselineKind::none) return std::nullopt;
    const Result<std::optional<IgnoreMatch>> match = rules_->ignored_by(path);
    if (!match)
      return fault(path, "the ignore rules of the baseline are lost: " + match.error().text);
    if (!*match) return std::nullopt;
    const IgnoreMatch& by = **match;
    return expected(
        path, PieceState::ignored,
        "ignored by " + shown(by.pattern) +
            (by.file.empty() ? "" : " in " + shown(by.file) + ":" + std::to_string(by.line)));
  }

  Piece diff_tracked(std::string_view path, const TreeEntry& entry) {
    Piece now = after(path, options_.size_cap);
    if (now.state == PieceState::fault) return now;
    if (is_same(entry, now)) return same(path);
    const Result<ObjectPtr> blob = tracked_->blob(entry.id, options_.size_cap);
    if (!blob) return fault(path, blob.error().text);
    const Object& old = **blob;
    if (!old.whole()) return too_large(std::max(old.full_size, now.full_size));
    if (const auto pointer = lfs_pointer(entry, old))
      return diff_lfs(path, entry, *pointer, old, now);
    if (now.state == PieceState::here && is_file(entry.mode) && is_file(now.mode) &&
        (has_cr(old.bytes) || has_cr(now.bytes)))
      return diff_line_ends(path, entry, old.bytes, now);
    return patch(path, Side{entry.mode, old.bytes, entry.id}, now);
  }

  // Compares what git would store, or what a checkout has where that cannot be compared.
  Piece diff_line_ends(std::string_view path, const TreeEntry& entry, const std::string& blob,
                       Piece& now) {
    const Result<LineEnds> ends = line_ends(path);
    if (!ends) return fault(path, ends.error().text);
    if (is_unnormalized(*ends, blob)) {
      const std::string old = checked_out(*ends, blob);
      if (old == now.bytes && now.mode == entry.mode) return same(path);
      return patch(path, Side{entry.mode, old}, now);
    }
    now.bytes = as_stored(*ends, std::move(now.bytes), blob);
    if (is_same(entry, now)) return same(path);
    return patch(path, Side{entry.mode, blob, entry.id}, now);
  }

  static bool is_same(const TreeEntry& entry, const Piece& now) {
    return now.state == PieceState::here && now.mode == entry.mode &&
           object_id(ObjectType::blob, now.bytes) == entry.id;
  }
  Piece same(std::string_view path) const {
    return expected(path, PieceState::same, "same as the baseline");
  }
  static Piece too_large(uint64_t full_size) {
    Piece out = empty(PieceState::too_large);
    out.full_size = full_size;
    return out;
  }

  Piece diff_lfs(std::string_view path, const TreeEntry& entry, const LfsPointer& pointer,
                 const Object& blob, Piece& now) {
    const bool untouched =
        is_file(now.mode) && now.full_size == pointer.size &&
        (now.state == PieceState::here ? sha256_hex(now.bytes) == pointer.sha256
                                       : read_proven(workspace_, path, pointer, 0).has_value());
    if (untouched) {
      if (now.mode == entry.mode) return same(path);
      now = piece_of(now.mode, blob.bytes, blob.full_size, options_.size_cap);
      return patch(path, Side{entry.mode, blob.bytes, entry.id}, now);
    }
    if (parse_lfs_pointer(now.bytes))  // a checkout without LFS
      return patch(path, Side{entry.mode, blob.bytes, entry.id}, now);
    const Piece old = stored_by_lfs(entry, pointer, blob);
    if (old.state == PieceState::too_large)
      return too_large(std::max(old.full_size, now.full_size));
    Piece out = patch(path, Side{old.mode, old.bytes}, now);
    out.flags |= old.flags & piece_lfs_pointer;
    return out;
  }

  Piece patch(std::string_view path, const std::optional<Side>& old_side, Piece& now) {
    Piece out = std::move(now);
    if (out.state == PieceState::too_large) {
      out.bytes.clear();
      return out;
    }
    std::optional<Side> new_side;
    const std::string content = std::move(out.bytes);
    if (out.state == PieceState::here) new_side = Side{out.mode, content};
    if (!new_side) out = piece_of(old_side->mode, "", 0, options_.size_cap);
    const BinaryPatch how = options_.binary_full ? BinaryPatch::full : BinaryPatch::brief;
    Result<std::string> text = make_patch(path, old_side, new_side, how);
    if (!text) return fault(path, text.error().text);
    if (old_side && is_binary(old_side->bytes)) out.flags |= piece_binary;
    out.state = PieceState::here;
    out.bytes = std::move(*text);
    out.full_size = out.bytes.size();
    return out;
  }

  Piece expected(std::string_view path, PieceState state, std::string_view why) const {
    if (log::enabled(log::Level::debug, kCategory))
      log::debug(kCategory, "nothing for " + shown(path) + ": " + std::string(why));
    return empty(state);
  }

  Piece fault(std::string_view path, const std::string& why) {
    std::string text = "cannot tell what happened to " + shown(path) + ": " + why;
    if (once(text)) log::error(text);
    return empty(PieceState::fault);
  }

  // True the first time a text is seen: a fault that lasts is said once.
  bool once(const std::string& text) {
    std::lock_guard lock(mutex_);
    if (said_.size() >= kTextsRemembered) said_.clear();
    return said_.insert(text).second;
  }

  const Baseline baseline_;
  const Root workspace_;
  const ContentOptions options_;
  const Redaction redaction_;
  std::unique_ptr<Repositories> tracked_;
  std::optional<IgnoreRules> rules_;
  std::optional<Conversion> conversion_;
  std::optional<Root> lfs_store_;
  std::mutex mutex_;
  std::set<std::string> said_;
};

}  // namespace

std::string_view name_of(PieceState state) {
  static constexpr std::string_view kNames[] = {
      "here",     "absent",    "same", "no_baseline", "ignored",
      "redacted", "too_large", "gone", "unsupported", "fault"};
  const auto index = static_cast<size_t>(state);
  return index < std::size(kNames) ? kNames[index] : "fault";
}

Result<std::unique_ptr<Content>> Content::open(const Baseline& baseline,
                                               const std::string& workspace,
                                               ContentOptions options) {
  Result<Root> root = Root::open(workspace);
  if (!root) return tl::unexpected(root.error());
  auto out = std::make_unique<Answers>(baseline, std::move(*root), options);
  if (Status started = out->start(); !started) return tl::unexpected(started.error());
  return out;
}

}  // namespace sandglass::git
