#include "git/pack.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/text.h"
#include "git/delta.h"
#include "git/zstream.h"

namespace sandglass::git {

namespace {

constexpr size_t kFanoutAt = 8;
constexpr size_t kNamesAt = kFanoutAt + 256 * 4;
constexpr int kOffsetDelta = 6, kRefDelta = 7;
constexpr size_t kMaxChain = 4096;         // git writes at most 4095
constexpr uint64_t kMaxHeld = 512u << 20;  // bytes of one base, or of all deltas of a chain

bool read_at(int fd, void* to, size_t size, uint64_t offset) {
  char* out = static_cast<char*>(to);
  while (size > 0) {
    const ssize_t n = ::pread(fd, out, size, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    out += n;
    size -= static_cast<size_t>(n);
    offset += static_cast<uint64_t>(n);
  }
  return true;
}

uint32_t big_endian(const uint8_t* p) {
  return uint32_t{p[0]} << 24 | uint32_t{p[1]} << 16 | uint32_t{p[2]} << 8 | p[3];
}

Result<Fd> open_regular(const Root& root, const std::string& name) {
  Result<Fd> fd = root.open_below(name, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  struct stat st;
  if (fd && (::fstat(fd->get(), &st) < 0 || !S_ISREG(st.st_mode)))
    return fail(Fault::invalid, shown(name) + " is not a file");
  return fd;
}

tl::unexpected<Error> damaged(std::string_view what) {
  return fail(Fault::corrupt, "damaged pack: " + std::string(what));
}

}  // namespace

struct Pack::Entry {
  int kind = 0;  // ObjectType, or one of the two deltas
  uint64_t size = 0;
  uint64_t data = 0;  // where the zlib stream begins
  uint64_t base = 0;  // where the delta's base is
  bool is_delta() const { return kind == kOffsetDelta || kind == kRefDelta; }
};

Result<Pack> Pack::open(const Root& objects, const std::string& name) {
  Result<Fd> index = open_regular(objects, name + ".idx");
  if (!index) return tl::unexpected(index.error());
  Result<Fd> data = open_regular(objects, name + ".pack");
  if (!data) return tl::unexpected(data.error());
  Pack pack(std::move(*index), std::move(*data));
  if (Status loaded = pack.load_fanout(); !loaded) return tl::unexpected(loaded.error());
  return pack;
}

Status Pack::load_fanout() {
  uint8_t head[kNamesAt], magic[8];
  static constexpr uint8_t kIndex2[] = {0xff, 't', 'O', 'c', 0, 0, 0, 2};
  if (!read_at(index_.get(), head, sizeof head, 0)) return damaged("short index");
  if (std::memcmp(head, kIndex2, sizeof kIndex2) != 0) return damaged("index is not version 2");
  if (!read_at(pack_.get(), magic, sizeof magic, 0) || std::memcmp(magic, "PACK", 4) != 0)
    return damaged("no pack header");
  for (size_t i = 0; i < 256; i++) {
    fanout_[i] = big_endian(head + kFanoutAt + 4 * i);
    if (i > 0 && fanout_[i] < fanout_[i - 1]) return damaged("index out of order");
  }
  return {};
}

std::optional<uint64_t> Pack::find(const Oid& id) const {
  const uint64_t count = fanout_[255];
  uint64_t low = id[0] == 0 ? 0 : fanout_[id[0] - 1u], high = fanout_[id[0]];
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    Oid name;
    if (!read_at(index_.get(), name.data(), name.size(), kNamesAt + middle * 20))
      return std::nullopt;
    if (name < id) {
      low = middle + 1;
    } else if (id < name) {
      high = middle;
    } else {
      uint8_t raw[8];
      const uint64_t offsets = kNamesAt + count * 24;  // after the names and their checksums
      if (!read_at(index_.get(), raw, 4, offsets + middle * 4)) return std::nullopt;
      const uint32_t offset = big_endian(raw);
      if (!(offset & 0x80000000u)) return offset;
      const uint64_t large = offsets + count * 4 + uint64_t{offset & 0x7fffffffu} * 8;
      if (!read_at(index_.get(), raw, 8, large)) return std::nullopt;
      return uint64_t{big_endian(raw)} << 32 | big_endian(raw + 4);
    }
  }
  return std::nullopt;
}

Result<Pack::Entry> Pack::entry_at(uint64_t offset) const {
  uint8_t head[64] = {};  // size, base offset or id; zero past the end of the file, which ends both
  if (offset > INT64_MAX) return damaged("offset out of range");
  const ssize_t got = ::pread(pack_.get(), head, sizeof head, static_cast<off_t>(offset));
  if (got <= 0) return damaged("entry past the end");
  Entry entry;
  size_t at = 0;
  entry.kind = head[0] >> 4 & 7;
  entry.size = head[0] & 15;
  for (unsigned shift = 4; head[at++] & 0x80; shift += 7) {
    if (shift > 56) return damaged("size out of range");
    entry.size |= uint64_t{head[at] & 0x7fu} << shift;
  }
  if (entry.kind == kOffsetDelta) {
    uint64_t back = head[at] & 0x7f;
    while (head[at++] & 0x80) {
      if (back > (UINT64_MAX >> 8)) return damaged("base out of range");
      back = (back + 1) << 7 | (head[at] & 0x7f);
    }
    if (back == 0 || back >= offset) return damaged("base out of range");
    entry.base = offset - back;
  } else if (entry.kind == kRefDelta) {
    Oid id;
    std::copy_n(head + at, id.size(), id.begin());
    at += id.size();
    const std::optional<uint64_t> base = find(id);
    if (!base) return damaged("base is missing");
    entry.base = *base;
  } else if (entry.kind < 1 || entry.kind > 4) {
    return damaged("unknown entry");
  }
  entry.data = offset + at;
  return entry;
}

Result<uint64_t> Pack::object_size(const Entry& entry) const {
  if (!entry.is_delta()) return entry.size;
  char head[32];
  Result<size_t> got = ZStream(pack_.get(), entry.data).read(head, sizeof head);
  if (!got) return tl::unexpected(got.error());
  const std::optional<DeltaSizes> sizes = delta_sizes({head, *got});
  if (!sizes) return damaged("delta without sizes");
  return sizes->result;
}

Result<std::string> Pack::unpack(const Entry& entry) const {
  if (entry.size > kMaxHeld) return damaged("entry too large");
  return ZStream(pack_.get(), entry.data).read_exactly(entry.size);
}

Result<ObjectPtr> Pack::read(uint64_t offset, uint64_t limit, ObjectCache& cache) const {
  struct Step {
    uint64_t offset;
    std::string delta;
  };
  std::vector<Step>
      steps;  // from the object asked for down to what the cache or the pack holds whole
  ObjectPtr at = cache.get(this, offset);
  for (uint64_t held = 0; !at;) {
    const Result<Entry> entry = entry_at(offset);
    if (!entry) return tl::unexpected(entry.error());
    if (steps.empty()) {
      const Result<uint64_t> size = object_size(*entry);
      if (!size) return tl::unexpected(size.error());
      if (*size > limit) return std::make_shared<const Object>(Object{ObjectType::blob, "", *size});
    }
    held += entry->size;
    if (held > kMaxHeld || steps.size() > kMaxChain) return damaged("endless delta chain");
    Result<std::string> bytes = unpack(*entry);
    if (!bytes) return tl::unexpected(bytes.error());
    if (entry->is_delta()) {
      steps.push_back({offset, std::move(*bytes)});
      offset = entry->base;
      at = cache.get(this, offset);
    } else {
      const auto type = static_cast<ObjectType>(entry->kind);
      at = std::make_shared<const Object>(Object{type, std::move(*bytes), entry->size});
      cache.put(this, offset, at);
    }
  }
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    Result<std::string> bytes = apply_delta(at->bytes, step->delta, kMaxHeld);
    if (!bytes) return tl::unexpected(bytes.error());
    const uint64_t size = bytes->size();
    at = std::make_shared<const Object>(Object{at->type, std::move(*bytes), size});
    cache.put(this, step->offset, at);
  }
  if (at->bytes.size() > limit)
    return std::make_shared<const Object>(Object{at->type, "", at->full_size});
  return at;
}

}  // namespace sandglass::git
