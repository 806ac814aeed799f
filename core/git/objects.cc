#include "git/objects.h"

#include <dirent.h>
#include <fcntl.h>

#include <algorithm>
#include <charconv>

#include "base/log.h"
#include "base/text.h"
#include "git/place.h"
#include "git/zstream.h"

namespace sandglass::git {

namespace {

constexpr size_t kMaxPacks = 512;  // two descriptors each

std::optional<ObjectType> type_named(std::string_view name) {
  if (name == "blob") return ObjectType::blob;
  if (name == "tree") return ObjectType::tree;
  if (name == "commit") return ObjectType::commit;
  if (name == "tag") return ObjectType::tag;
  return std::nullopt;
}

// A loose object is one zlib stream: "blob 12", a zero byte, the content.
Result<ObjectPtr> read_loose(int fd, uint64_t limit) {
  static const auto broken = [] { return fail(Fault::corrupt, "damaged loose object"); };
  ZStream stream(fd, 0);
  std::string head;
  for (char c = 1;;) {
    Result<size_t> got = stream.read(&c, 1);
    if (!got) return tl::unexpected(got.error());
    if (*got == 0 || head.size() > 32) return broken();
    if (c == '\0') break;
    head += c;
  }
  const size_t space = head.find(' ');
  const std::optional<ObjectType> type = type_named(std::string_view(head).substr(0, space));
  if (!type || space == std::string::npos) return broken();
  Object out;
  out.type = *type;
  const char* end = head.data() + head.size();
  auto [at, error] = std::from_chars(head.data() + space + 1, end, out.full_size);
  if (error != std::errc() || at != end) return broken();
  if (out.full_size > limit) return std::make_shared<const Object>(std::move(out));
  Result<std::string> bytes = stream.read_exactly(out.full_size);
  if (!bytes) return tl::unexpected(bytes.error());
  out.bytes = std::move(*bytes);
  return std::make_shared<const Object>(std::move(out));
}

Result<ObjectPtr> find_loose(const Root& root, const Oid& id, uint64_t limit) {
  const std::string name = to_hex(id).insert(2, "/");
  Fd fd(root.try_open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY));
  if (!fd) return fail(Fault::not_found, "no such object");
  struct stat st;
  if (::fstat(fd.get(), &st) < 0 || !S_ISREG(st.st_mode))
    return fail(Fault::corrupt, "a loose object is not a file");
  return read_loose(fd.get(), limit);
}

bool proven(const Object& object, const Oid& id) {
  return !object.whole() || object_id(object.type, object.bytes) == id;
}

std::vector<std::string> pack_names(const Root& root) {
  std::vector<std::string> out;
  Fd fd(root.try_open("pack", O_RDONLY | O_DIRECTORY));
  DIR* dir = fd ? ::fdopendir(fd.get()) : nullptr;
  if (!dir) return out;
  fd.release();
  while (const dirent* entry = ::readdir(dir)) {
    const std::string_view name = entry->d_name;
    if (name.starts_with("pack-") && name.ends_with(".idx"))
      out.push_back("pack/" + std::string(name.substr(0, name.size() - 4)));
  }
  ::closedir(dir);
  return out;
}

}  // namespace

Result<std::unique_ptr<Objects>> Objects::open(const std::vector<std::string>& directories,
                                               std::vector<std::string> later) {
  auto out = std::make_unique<Objects>();
  Error first{Fault::invalid, "no object directory"};
  Directories found;
  for (const std::string& path : directories) {
    Result<Root> root = open_exact(path);
    if (root)
      found.push_back(std::make_shared<const Root>(std::move(*root)));
    else if (&path == &directories.front())
      first = root.error();
  }
  if (found.empty() && later.empty()) return tl::unexpected(first);
  out->directories_ = std::make_shared<const Directories>(std::move(found));
  out->later_ = std::move(later);
  out->look_for_packs();
  return out;
}

std::shared_ptr<const Objects::Packs> Objects::packs() {
  std::lock_guard lock(mutex_);
  return packs_;
}

std::shared_ptr<const Objects::Directories> Objects::directories() {
  std::lock_guard lock(mutex_);
  return directories_;
}

uint64_t Objects::opened() {
  std::lock_guard lock(mutex_);
  return opened_;
}

// Packs that are gone stay open.
void Objects::look_for_packs() {
  std::lock_guard lock(mutex_);
  Packs found = *packs_;
  for (const auto& directory : *directories_) {
    for (const std::string& name : pack_names(*directory)) {
      if (found.size() >= kMaxPacks) break;
      if (!tried_.emplace(directory.get(), name).second) continue;
      Result<Pack> pack = Pack::open(*directory, name);
      if (pack)
        found.push_back(std::make_shared<const Pack>(std::move(*pack)));
      else
        log::debug("sandbox", "pack left out: " + shown(name) + ": " + pack.error().text);
    }
  }
  if (found.size() == packs_->size()) return;
  packs_ = std::make_shared<Packs>(std::move(found));
  opened_++;
}

void Objects::open_later() {
  {
    std::lock_guard lock(mutex_);
    Directories all = *directories_;
    std::erase_if(later_, [&](const std::string& path) {
      Result<Root> root = open_exact(path);
      if (root) all.push_back(std::make_shared<const Root>(std::move(*root)));
      return root.has_value();
    });
    if (all.size() == directories_->size()) return;
    directories_ = std::make_shared<const Directories>(std::move(all));
    opened_++;
  }
  look_for_packs();
}

Result<ObjectPtr> Objects::find(const Oid& id, uint64_t limit) {
  Error last{Fault::not_found, "object " + to_hex(id) + " is not in the object database"};
  const auto settled = [&](const Result<ObjectPtr>& got) {
    if (got && proven(**got, id)) return true;
    if (!got && got.error().fault == Fault::not_found) return false;
    last = {Fault::corrupt, "object " + to_hex(id) + " cannot be read: " +
                                (got ? "its content has another id" : got.error().text)};
    return false;
  };
  const std::shared_ptr<const Packs> packs = this->packs();  // kept while others replace the list
  for (const auto& pack : *packs) {
    const std::optional<uint64_t> offset = pack->find(id);
    if (!offset) continue;
    Result<ObjectPtr> got = pack->read(*offset, limit, cache_);
    if (settled(got)) return got;
    cache_.clear();  // what it was made of may be damaged, or may have been for a moment
  }
  const std::shared_ptr<const Directories> directories = this->directories();
  for (const auto& directory : *directories) {
    Result<ObjectPtr> got = find_loose(*directory, id, limit);
    if (settled(got)) return got;
  }
  return tl::unexpected(last);
}

// Looked for again as long as anyone, also another thread, has opened more since. That ends: packs
// are opened once each and are bounded.
Result<ObjectPtr> Objects::read(const Oid& id, uint64_t limit) {
  for (;;) {
    const uint64_t before = opened();
    Result<ObjectPtr> got = find(id, limit);
    if (got) return got;
    look_for_packs();
    if (opened() == before) open_later();
    if (opened() == before) return got;
  }
}

}  // namespace sandglass::git
