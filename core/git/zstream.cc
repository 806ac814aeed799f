#include "git/zstream.h"

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <stdexcept>

namespace sandglass::git {

struct ZStream::State {
  int fd = -1;
  uint64_t offset = 0;
  bool ended = false;
  z_stream z{};
  std::array<unsigned char, 8192> in;
  ~State();
};

thread_local std::unique_ptr<ZStream::State> ZStream::spare_;

ZStream::State::~State() {
  inflateEnd(&z);
}

ZStream::ZStream(int fd, uint64_t offset) : state_(std::move(spare_)) {
  if (!state_) {
    state_ = std::make_unique<State>();
    if (inflateInit(&state_->z) != Z_OK) throw std::bad_alloc();
  }
  inflateReset(&state_->z);
  state_->z.avail_in = 0;
  state_->fd = fd;
  state_->offset = offset;
  state_->ended = false;
}

ZStream::~ZStream() {
  spare_ = std::move(state_);
}

Status ZStream::refill() {
  State& s = *state_;
  ssize_t n;
  do n = ::pread(s.fd, s.in.data(), s.in.size(), static_cast<off_t>(s.offset));
  while (n < 0 && errno == EINTR);
  if (n < 0) return fail_errno(errno, "cannot read compressed data");
  if (n == 0) return fail(Fault::corrupt, "compressed data ends too early");
  s.offset += static_cast<uint64_t>(n);
  s.z.next_in = s.in.data();
  s.z.avail_in = static_cast<uInt>(n);
  return {};
}

Result<size_t> ZStream::inflate_into(char* to, size_t size, int flush) {
  State& s = *state_;
  size_t have = 0;
  while (have < size && !s.ended) {
    if (s.z.avail_in == 0)
      if (Status filled = refill(); !filled) return tl::unexpected(filled.error());
    const size_t room = std::min<size_t>(size - have, UINT_MAX);
    s.z.next_out = reinterpret_cast<Bytef*>(to + have);
    s.z.avail_out = static_cast<uInt>(room);
    const int code = inflate(&s.z, flush);
    have += room - s.z.avail_out;
    if (code == Z_STREAM_END)
      s.ended = true;
    else if (code != Z_OK && code != Z_BUF_ERROR)
      return fail(Fault::corrupt, "compressed data is damaged");
  }
  return have;
}

Result<size_t> ZStream::read(char* to, size_t size) {
  return inflate_into(to, size, Z_NO_FLUSH);
}

// One byte of room too much lets zlib see the end in the same call; told so by Z_FINISH, it keeps
// no window of what it made.
Result<std::string> ZStream::read_exactly(size_t size) {
  std::string out(size + 1, '\0');
  const Result<size_t> got = inflate_into(out.data(), out.size(), Z_FINISH);
  if (!got) return tl::unexpected(got.error());
  if (*got != size) return fail(Fault::corrupt, "compressed data has another size than it says");
  out.resize(size);
  return out;
}

std::string deflate_all(std::string_view bytes) {
  uLongf size = compressBound(bytes.size());
  std::string out(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(),
                Z_DEFAULT_COMPRESSION) != Z_OK)
    throw std::bad_alloc();
  out.resize(size);
  return out;
}

}  // namespace sandglass::git
