#include "git/snapshot.h"

#include <algorithm>

namespace sandglass::git {

namespace {

constexpr uint64_t kMaxTree = 64u << 20;
constexpr size_t kTreesHeld = 32u << 20;

uint32_t canonical(uint32_t mode) {
  switch (mode & 0170000) {
    case 0100000:
      return mode & 0100 ? kExecutable : kRegular;
    case 0120000:
      return kLink;
    case 0040000:
      return kDirectory;
    default:
      return kSubmodule;
  }
}

}  // namespace

// Takes one entry off: "100644 name", a zero byte, 20 bytes of id. False where it is damaged.
static bool take_entry(std::string_view& tree, std::string_view& name, std::string_view& mode,
                       Oid& id) {
  const size_t space = tree.find(' ');
  const size_t zero = tree.find('\0', space == std::string_view::npos ? 0 : space);
  if (zero == std::string_view::npos || space > zero || tree.size() - zero - 1 < id.size())
    return false;
  mode = tree.substr(0, space);
  name = tree.substr(space + 1, zero - space - 1);
  std::copy_n(tree.begin() + zero + 1, id.size(), id.begin());
  tree.remove_prefix(zero + 1 + id.size());
  return true;
}

static uint32_t mode_of(std::string_view digits) {
  uint32_t out = 0;
  for (char c : digits) out = out << 3 | (static_cast<unsigned>(c) & 7);
  return canonical(out);
}

std::optional<TreeEntry> find_in_tree(std::string_view tree, std::string_view name) {
  TreeEntry out;
  std::string_view here, mode;
  while (take_entry(tree, here, mode, out.id)) {
    if (here != name) continue;
    out.mode = mode_of(mode);
    return out;
  }
  return std::nullopt;
}

std::vector<NamedEntry> parse_tree(std::string_view tree) {
  std::vector<NamedEntry> out;
  NamedEntry one;
  std::string_view mode;
  while (take_entry(tree, one.name, mode, one.entry.id)) {
    one.entry.mode = mode_of(mode);
    out.push_back(one);
  }
  return out;
}

Result<ObjectPtr> Snapshot::read(const Oid& id, ObjectType type, uint64_t limit) {
  Result<ObjectPtr> got = objects_->read(id, limit);
  if (got && (*got)->whole() && (*got)->type != type)
    return fail(Fault::corrupt, "object " + to_hex(id) + " is of an unexpected type");
  return got;
}

Result<ObjectPtr> Snapshot::blob(const Oid& id, uint64_t limit) {
  return read(id, ObjectType::blob, limit);
}

Result<Oid> Snapshot::root() {
  {
    std::lock_guard lock(mutex_);
    if (root_) return *root_;
  }
  static constexpr std::string_view kWord = "tree ";
  const Result<ObjectPtr> top = objects_->read(top_, kMaxTree);
  if (!top) return tl::unexpected(top.error());
  const std::string_view text = (*top)->bytes;
  std::optional<Oid> id;
  if ((*top)->type == ObjectType::tree) id = top_;
  if ((*top)->type == ObjectType::commit && text.starts_with(kWord))
    id = parse_oid(text.substr(kWord.size(), 40));
  if (!id) return fail(Fault::corrupt, "object " + to_hex(top_) + " names no tree");
  std::lock_guard lock(mutex_);
  root_ = *id;
  return *id;
}

Result<ObjectPtr> Snapshot::tree(const Oid& id) {
  {
    std::lock_guard lock(mutex_);
    if (const auto found = trees_.find(id); found != trees_.end()) return found->second;
  }
  const Result<ObjectPtr> object = read(id, ObjectType::tree, kMaxTree);
  if (!object) return object;
  const size_t size = (*object)->bytes.size();
  if (!(*object)->whole()) return fail(Fault::corrupt, "tree " + to_hex(id) + " is too large");
  std::lock_guard lock(mutex_);
  if (held_ + size > kTreesHeld) {
    trees_.clear();
    held_ = 0;
  }
  if (trees_.emplace(id, *object).second) held_ += size;
  return object;
}

Result<std::optional<TreeEntry>> Snapshot::find(std::string_view path) {
  Result<Oid> at = root();
  if (!at) return tl::unexpected(at.error());
  for (Oid id = *at;;) {
    const Result<ObjectPtr> here = tree(id);
    if (!here) return tl::unexpected(here.error());
    const size_t slash = path.find('/');
    const std::optional<TreeEntry> entry = find_in_tree((*here)->bytes, path.substr(0, slash));
    if (!entry || slash == std::string_view::npos || entry->mode == kSubmodule) return entry;
    if (entry->mode != kDirectory) return std::optional<TreeEntry>();
    path.remove_prefix(slash + 1);
    id = entry->id;
  }
}

}  // namespace sandglass::git
