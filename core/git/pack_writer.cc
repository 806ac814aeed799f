#include "git/pack_writer.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <new>

#include "base/text.h"

namespace sandglass::git {

namespace {

constexpr size_t kBuffered = 1u << 20;
constexpr size_t kHeader = 12;  // "PACK", version, count
constexpr uint64_t kLargeOffset = 0x80000000u;

void append_32(std::string& out, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift);
}

std::string header(uint32_t count) {
  std::string out = "PACK";
  append_32(out, 2);
  append_32(out, count);
  return out;
}

class Sha1 {
 public:
  Sha1() : context_(EVP_MD_CTX_new()) { EVP_DigestInit_ex(context_, EVP_sha1(), nullptr); }
  ~Sha1() { EVP_MD_CTX_free(context_); }
  Sha1(const Sha1&) = delete;
  Sha1& operator=(const Sha1&) = delete;
  void add(std::string_view bytes) { EVP_DigestUpdate(context_, bytes.data(), bytes.size()); }
  std::string end() {
    std::string out(EVP_MAX_MD_SIZE, '\0');
    unsigned size = 0;
    EVP_DigestFinal_ex(context_, reinterpret_cast<unsigned char*>(out.data()), &size);
    out.resize(size);
    return out;
  }

 private:
  EVP_MD_CTX* context_;
};

std::string entry_head(ObjectType type, uint64_t size) {
  std::string out;
  auto byte = static_cast<unsigned>(static_cast<int>(type) << 4) | (size & 15);
  for (size >>= 4; size; size >>= 7) {
    out += static_cast<char>(byte | 0x80);
    byte = size & 0x7f;
  }
  out += static_cast<char>(byte);
  return out;
}

Fd create_file(const std::string& path) {
  ::unlink(path.c_str());
  return Fd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
}

}  // namespace

size_t OidHash::operator()(const Oid& id) const {
  size_t out;
  std::memcpy(&out, id.data(), sizeof out);
  return out;
}

struct PackWriter::Deflater {
  z_stream z{};
  Deflater() {
    if (deflateInit(&z, Z_BEST_SPEED) != Z_OK) throw std::bad_alloc();
  }
  ~Deflater() { deflateEnd(&z); }
};

PackWriter::PackWriter(std::string folder, std::string name, Fd file)
    : folder_(std::move(folder)),
      name_(std::move(name)),
      file_(std::move(file)),
      deflater_(std::make_unique<Deflater>()),
      buffer_(header(0)),
      offset_(kHeader) {}

PackWriter::~PackWriter() {
  if (finished_) return;
  ::unlink(temporary(".pack").c_str());
  ::unlink(temporary(".idx").c_str());
}

std::string PackWriter::temporary(const char* suffix) const {
  return folder_ + "/tmp-" + name_ + suffix;
}

Result<std::unique_ptr<PackWriter>> PackWriter::create(const std::string& folder,
                                                       const std::string& name) {
  const std::string path = folder + "/tmp-" + name + ".pack";
  Fd file = create_file(path);
  if (!file) return fail_errno(errno, "cannot write " + shown(path));
  return std::unique_ptr<PackWriter>(new PackWriter(folder, name, std::move(file)));
}

Status PackWriter::flush() {
  Status written = write_all(file_.get(), buffer_);
  buffer_.clear();
  return written;
}

Status PackWriter::add(ObjectType type, std::string_view bytes, const Oid& id) {
  if (bytes.size() > UINT_MAX) return fail(Fault::invalid, "the object is too large for a pack");
  if (!known_.emplace(id, 0).second) return {};
  std::string out = entry_head(type, bytes.size());
  const size_t head = out.size();
  z_stream& z = deflater_->z;
  deflateReset(&z);
  out.resize(head + deflateBound(&z, bytes.size()));
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data() + head);
  z.avail_out = static_cast<uInt>(out.size() - head);
  if (deflate(&z, Z_FINISH) != Z_STREAM_END) return fail(Fault::no_memory, "zlib failed");
  out.resize(out.size() - z.avail_out);
  const uLong crc =
      crc32(0, reinterpret_cast<const Bytef*>(out.data()), static_cast<uInt>(out.size()));
  entries_.push_back({id, static_cast<uint32_t>(crc), offset_});
  offset_ += out.size();
  buffer_ += out;
  return buffer_.size() < kBuffered ? Status{} : flush();
}

// The count is known only now, so the checksum is of what was written, read again.
Status PackWriter::seal(std::string& checksum) {
  if (Status written = flush(); !written) return written;
  const std::string head = header(static_cast<uint32_t>(entries_.size()));
  if (::pwrite(file_.get(), head.data(), head.size(), 0) != static_cast<ssize_t>(head.size()))
    return fail_errno(errno, "cannot write a pack");
  Sha1 sha;
  std::string part(kBuffered, '\0');
  for (uint64_t at = 0; at < offset_;) {
    const ssize_t n = ::pread(file_.get(), part.data(), part.size(), static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return fail_errno(n < 0 ? errno : EIO, "cannot read back a pack");
    sha.add(std::string_view(part).substr(0, static_cast<size_t>(n)));
    at += static_cast<uint64_t>(n);
  }
  checksum = sha.end();
  return write_all(file_.get(), checksum);
}

Status PackWriter::write_index(const std::string& checksum, bool sync) {
  std::sort(entries_.begin(), entries_.end(),
            [](const Entry& a, const Entry& b) { return a.id < b.id; });
  std::string out("\377tOc\0\0\0\2", 8), large;
  size_t at = 0;
  for (unsigned first = 0; first < 256; first++) {
    while (at < entries_.size() && entries_[at].id[0] <= first) at++;
    append_32(out, static_cast<uint32_t>(at));
  }
  for (const Entry& e : entries_) out.append(e.id.begin(), e.id.end());
  for (const Entry& e : entries_) append_32(out, e.crc);
  for (const Entry& e : entries_) {
    if (e.offset < kLargeOffset) {
      append_32(out, static_cast<uint32_t>(e.offset));
    } else {
      append_32(out, static_cast<uint32_t>(kLargeOffset | (large.size() / 8)));
      append_32(large, static_cast<uint32_t>(e.offset >> 32));
      append_32(large, static_cast<uint32_t>(e.offset));
    }
  }
  out += large + checksum;
  Sha1 sha;
  sha.add(out);
  out += sha.end();
  const Fd file = create_file(temporary(".idx"));
  if (!file) return fail_errno(errno, "cannot write an index below " + shown(folder_));
  if (Status written = write_all(file.get(), out); !written) return written;
  if (sync && ::fsync(file.get()) < 0) return fail_errno(errno, "cannot sync an index");
  return {};
}

// The index last: a pack counts from when its index is there.
Status PackWriter::finish(bool sync) {
  std::string checksum;
  if (Status sealed = seal(checksum); !sealed) return sealed;
  if (sync && ::fsync(file_.get()) < 0) return fail_errno(errno, "cannot sync a pack");
  if (Status written = write_index(checksum, sync); !written) return written;
  for (const char* suffix : {".pack", ".idx"})
    if (::rename(temporary(suffix).c_str(), (folder_ + "/" + name_ + suffix).c_str()) < 0)
      return fail_errno(errno, "cannot rename a pack below " + shown(folder_));
  finished_ = true;
  return {};
}

}  // namespace sandglass::git
