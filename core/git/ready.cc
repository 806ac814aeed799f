#include "git/ready.h"

#include <dirent.h>
#include <fcntl.h>

#include <algorithm>

#include "base/clock.h"

namespace sandglass::git {

namespace {

constexpr int kMaxDepth = 1024;
constexpr int64_t kWalkNs = 4'000'000'000;  // after the contents' time, for names alone

uint32_t mode_of(const struct stat& st) {
  return S_ISLNK(st.st_mode) ? kLink : st.st_mode & S_IXUSR ? kExecutable : kRegular;
}

struct Built {
  std::string name;
  TreeEntry entry;
};

const char* digits_of(uint32_t mode) {
  switch (mode) {
    case kDirectory:
      return "40000 ";
    case kExecutable:
      return "100755 ";
    case kLink:
      return "120000 ";
    case kSubmodule:
      return "160000 ";
    default:
      return "100644 ";
  }
}

// As git orders them: a directory as if its name ended in a slash.
std::string tree_bytes(std::vector<Built>& entries) {
  const auto key = [](const Built& b) {
    return b.entry.mode == kDirectory ? b.name + "/" : b.name;
  };
  std::sort(entries.begin(), entries.end(),
            [&](const Built& a, const Built& b) { return key(a) < key(b); });
  std::string out;
  for (const Built& one : entries) {
    (out += digits_of(one.entry.mode)) += one.name;
    out += '\0';
    out.append(one.entry.id.begin(), one.entry.id.end());
  }
  return out;
}

class Look {
 public:
  Look(const ReadyTree& where, const ReadyOptions& options, ReadyStore& store)
      : where_(where), options_(options), store_(store) {}

  ReadyFound look() {
    std::optional<Oid> base;
    if (where_.head) {
      const Result<Oid> root = where_.head->root();
      if (!root) return out_.unseen++, out_;
      base = *root;
    }
    out_.tree = above(base, where_.prefix);
    return out_;
  }

 private:
  // The directories from the repository's root to the workspace: as they are in the commit.
  std::optional<Oid> above(const std::optional<Oid>& base, const std::string& rest) {
    if (rest.empty()) return directory(where_.path, base, 0);
    std::vector<Built> built;
    if (base) {
      const Result<ObjectPtr> tree = where_.head->tree(*base);
      if (!tree) return out_.unseen++, base;
      for (const NamedEntry& one : parse_tree((*tree)->bytes))
        built.push_back({std::string(one.name), one.entry});
    }
    const size_t slash = rest.find('/');
    const std::string name = rest.substr(0, slash);
    const auto old = std::find_if(built.begin(), built.end(),
                                  [&](const Built& one) { return one.name == name; });
    std::optional<Oid> below;
    if (old != built.end() && old->entry.mode == kDirectory) below = old->entry.id;
    const auto now = above(below, slash == std::string::npos ? "" : rest.substr(slash + 1));
    if (now == below) return base;
    if (old != built.end()) built.erase(old);
    if (now) built.push_back({name, {kDirectory, *now}});
    return write(built);
  }

  std::optional<Oid> write(std::vector<Built>& built) {
    return store_.add(ObjectType::tree, tree_bytes(built));
  }

  // A directory's tree now. `base`: its tree in the commit. Nothing where it holds no file.
  std::optional<Oid> directory(const std::string& path, const std::optional<Oid>& base, int depth) {
    Fd fd(where_.workspace->try_open(path, O_RDONLY | O_DIRECTORY));
    if (!fd || depth > kMaxDepth || mono_ns() > store_.limits().until_ns + kWalkNs)
      return out_.unseen++, base;
    ObjectPtr tree;
    std::vector<NamedEntry> tracked;
    if (base) {
      const Result<ObjectPtr> got = where_.head->tree(*base);
      if (!got) return out_.unseen++, base;
      tree = *got;
      tracked = parse_tree(tree->bytes);
      std::sort(tracked.begin(), tracked.end(),
                [](const NamedEntry& a, const NamedEntry& b) { return a.name < b.name; });
    }
    std::vector<Built> built;
    size_t same = 0;
    for (const auto& [name, type] : names_in(fd.get())) {
      const auto at = std::lower_bound(
          tracked.begin(), tracked.end(), name,
          [](const NamedEntry& a, const std::string& wanted) { return a.name < wanted; });
      const TreeEntry* old = at != tracked.end() && at->name == name ? &at->entry : nullptr;
      const std::string below = path.empty() ? name : path + "/" + name;
      const std::optional<TreeEntry> now =
          type == DT_DIR ? subdirectory(below, name, old, depth) : file(fd.get(), name, below, old);
      if (!now) continue;
      if (old && old->mode == now->mode && old->id == now->id) same++;
      built.push_back({name, *now});
    }
    if (base && same == tracked.size() && same == built.size()) return base;
    return built.empty() ? std::nullopt : write(built);
  }

  static std::vector<std::pair<std::string, unsigned char>> names_in(int from) {
    std::vector<std::pair<std::string, unsigned char>> out;
    Fd fd(::fcntl(from, F_DUPFD_CLOEXEC, 0));
    DIR* dir = fd ? ::fdopendir(fd.get()) : nullptr;
    if (!dir) return out;
    fd.release();
    while (const dirent* entry = ::readdir(dir)) {
      const std::string_view name = entry->d_name;
      unsigned char type = entry->d_type;
      struct stat st;
      if (type == DT_UNKNOWN &&
          ::fstatat(::dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        type = IFTODT(st.st_mode);
      if (name == "." || name == ".." || name == ".git") continue;
      if (type == DT_DIR || type == DT_REG || type == DT_LNK) out.emplace_back(name, type);
    }
    ::closedir(dir);
    return out;
  }

  std::optional<TreeEntry> subdirectory(const std::string& path, const std::string& name,
                                        const TreeEntry* old, int depth) {
    const auto recorded = old && old->mode == kSubmodule ? std::optional(old->id) : std::nullopt;
    const auto kept = old && old->mode != kDirectory && !recorded ? nullptr : old;
    if (std::find(options_.skip.begin(), options_.skip.end(), name) != options_.skip.end())
      return kept ? std::optional(*kept) : std::nullopt;
    struct stat st;
    if (where_.workspace->stat_below(path + "/.git", st) && options_.nested(path, recorded))
      return kept ? std::optional(*kept) : std::nullopt;
    if (recorded) return *old;
    if (!kept && is_ignored(path, true)) return std::nullopt;
    const auto tree = directory(path, kept ? std::optional(kept->id) : std::nullopt, depth + 1);
    return tree ? std::optional(TreeEntry{kDirectory, *tree}) : std::nullopt;
  }

  std::optional<TreeEntry> file(int directory, const std::string& name, const std::string& path,
                                const TreeEntry* old) {
    if (old && (old->mode == kDirectory || old->mode == kSubmodule)) old = nullptr;
    struct stat st;
    if (::fstatat(directory, name.c_str(), &st, AT_SYMLINK_NOFOLLOW) < 0) return std::nullopt;
    const uint32_t mode = mode_of(st);
    if (old && old->mode == mode && where_.index &&
        where_.index->is_clean(below_repository(path), st, mode, old->id))
      return *old;
    if (!old && is_ignored(path, false)) return std::nullopt;
    const bool withheld = options_.redaction && options_.redaction->withholds(path);
    if (!old && withheld) return std::nullopt;
    return TreeEntry{mode, content(path, st, old, withheld)};
  }

  // The id of a file's content now, kept where it is another than the commit's.
  Oid content(const std::string& path, const struct stat& st, const TreeEntry* old, bool withheld) {
    const ReadyLimits& limits = store_.limits();
    const auto unknown = [&] { return out_.unknown++, Oid{}; };
    if (static_cast<uint64_t>(st.st_size) > limits.file_bytes || mono_ns() > limits.until_ns)
      return unknown();
    const Result<FileBytes> now = where_.workspace->read(path, limits.file_bytes);
    if (!now || now->full_size != now->bytes.size()) return unknown();
    const std::optional<Oid> id = object_id(ObjectType::blob, now->bytes);
    if (!id) return unknown();
    if (withheld || (old && old->id == *id)) return *id;
    return store_.add(ObjectType::blob, now->bytes, id) ? *id : unknown();
  }

  std::string below_repository(const std::string& path) const {
    if (!where_.path.empty()) return path.substr(where_.path.size() + 1);
    return where_.prefix.empty() ? path : where_.prefix + "/" + path;
  }

  // Where nobody can tell, it is: nothing is kept that should not be.
  bool is_ignored(const std::string& path, bool is_directory) {
    if (!where_.rules) return false;
    const auto match = where_.rules->ignored_by(path, is_directory);
    return !match || *match;
  }

  const ReadyTree& where_;
  const ReadyOptions& options_;
  ReadyStore& store_;
  ReadyFound out_;
};

}  // namespace

std::optional<Oid> ReadyStore::add(ObjectType type, std::string_view bytes,
                                   const std::optional<Oid>& known) {
  const std::optional<Oid> id = known ? known : object_id(type, bytes);
  if (!id || !failed_) return std::nullopt;
  if (!pack_) {
    auto made = PackWriter::create(folder_, "pack-ready");
    if (!made) return failed_ = tl::unexpected(made.error()), std::nullopt;
    pack_ = std::move(*made);
  }
  if (type == ObjectType::blob && pack_->bytes() + bytes.size() > limits_.bytes)
    return std::nullopt;
  if (Status added = pack_->add(type, bytes, *id); !added)
    return failed_ = std::move(added), std::nullopt;
  return id;
}

Status ReadyStore::finish() {
  return failed_ && pack_ ? pack_->finish(false) : failed_;
}

ReadyFound look_at_ready(const ReadyTree& where, const ReadyOptions& options, ReadyStore& store) {
  return Look(where, options, store).look();
}

}  // namespace sandglass::git
