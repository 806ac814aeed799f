#include "git/index_file.h"

#include <algorithm>

namespace sandglass::git {

namespace {

constexpr size_t kHeader = 12, kChecksum = 20, kFixed = 62;  // an entry up to its name
constexpr uint16_t kExtended = 0x4000, kStage = 0x3000;
constexpr size_t kMostPaths = 512u << 20;

class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}
  size_t size() const { return left_.size(); }
  std::string_view take(size_t size) {
    const std::string_view out = left_.substr(0, size);
    left_.remove_prefix(out.size());
    return out;
  }
  uint64_t number(size_t bytes) {
    uint64_t out = 0;
    for (const char c : take(bytes)) out = out << 8 | static_cast<unsigned char>(c);
    return out;
  }
  uint64_t time_ns() {
    const uint64_t seconds = number(4);
    return seconds * 1'000'000'000 + number(4);
  }
  // Up to a zero byte, which is taken too. False when there is none.
  bool text(std::string_view& out) {
    const size_t end = left_.find('\0');
    if (end == std::string_view::npos) return false;
    out = take(end);
    left_.remove_prefix(1);
    return true;
  }
  // git's offset encoding, as before a name in version 4.
  bool varint(uint64_t& out) {
    out = 0;
    for (int i = 0; i < 9 && !left_.empty(); i++) {
      const auto byte = static_cast<unsigned char>(take(1)[0]);
      out = (out << 7) + (byte & 0x7f);
      if (!(byte & 0x80)) return true;
      out++;
    }
    return false;
  }

 private:
  std::string_view left_;
};

tl::unexpected<Error> damaged() {
  return fail(Fault::corrupt, "damaged index");
}

uint64_t ns(const timespec& time) {
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

}  // namespace

Result<IndexFile> IndexFile::parse(std::string_view bytes, uint64_t written_ns) {
  IndexFile out;
  out.written_ns_ = written_ns;
  if (bytes.size() < kHeader + kChecksum || bytes.substr(0, 4) != "DIRC") return damaged();
  Reader in(bytes.substr(4, bytes.size() - 4 - kChecksum));
  const uint64_t version = in.number(4), count = in.number(4);
  if (version < 2 || version > 4) return fail(Fault::unsupported, "unknown version of the index");
  if (count > bytes.size() / kFixed) return damaged();
  out.entries_.reserve(count);
  std::string path;
  for (uint64_t i = 0; i < count; i++) {
    if (in.size() < kFixed) return damaged();
    Entry e;
    e.ctime_ns = in.time_ns();
    e.mtime_ns = in.time_ns();
    in.take(4);  // device: differs from mount to mount
    e.inode = static_cast<uint32_t>(in.number(4));
    e.mode = static_cast<uint32_t>(in.number(4));
    in.take(8);  // owner: the change time tells
    e.size = static_cast<uint32_t>(in.number(4));
    const std::string_view id = in.take(e.id.size());
    std::copy(id.begin(), id.end(), e.id.begin());
    const auto flags = static_cast<uint16_t>(in.number(2));
    size_t fixed = kFixed;
    if (flags & kExtended) {
      if (version < 3 || in.size() < 2) return damaged();
      in.take(2);
      fixed += 2;
    }
    uint64_t cut = 0;
    if (version == 4 && !in.varint(cut)) return damaged();
    std::string_view name;
    if (cut > path.size() || !in.text(name)) return damaged();
    path.resize(version == 4 ? path.size() - cut : 0);
    path += name;
    if (version < 4) in.take(7 - (fixed + name.size()) % 8);  // zeros to a multiple of eight
    if (out.paths_.size() + path.size() > kMostPaths) return damaged();
    if (flags & kStage) continue;  // in conflict
    e.path = out.paths_.size();
    e.path_size = path.size();
    out.paths_ += path;
    out.entries_.push_back(e);
  }
  while (in.size() >= 8) {
    const std::string_view name = in.take(4);
    const uint64_t size = in.number(4);
    if (name == "link") return fail(Fault::unsupported, "the index is split");
    in.take(size);
  }
  const auto before = [&](const Entry& a, const Entry& b) {
    return out.path_of(a) < out.path_of(b);
  };
  if (!std::is_sorted(out.entries_.begin(), out.entries_.end(), before))
    std::sort(out.entries_.begin(), out.entries_.end(), before);
  return out;
}

bool IndexFile::is_clean(std::string_view path, const struct stat& st, uint32_t mode,
                         const Oid& id) const {
  const auto found = std::lower_bound(
      entries_.begin(), entries_.end(), path,
      [&](const Entry& entry, std::string_view wanted) { return path_of(entry) < wanted; });
  if (found == entries_.end() || path_of(*found) != path) return false;
  const Entry& e = *found;
  return e.id == id && e.mode == mode && e.size == static_cast<uint32_t>(st.st_size) &&
         e.inode == static_cast<uint32_t>(st.st_ino) && e.mtime_ns == ns(st.st_mtim) &&
         e.ctime_ns == ns(st.st_ctim) && e.mtime_ns < written_ns_ && e.ctime_ns < written_ns_;
}

}  // namespace sandglass::git
