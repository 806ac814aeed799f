// Reading one zlib stream out of a file, at most as much as is asked for: a stream that claims to
// be small and unpacks to gigabytes costs nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

namespace sandglass::git {

// Reads with pread, so one descriptor serves many streams and threads; each ZStream belongs to one
// thread. The descriptor stays the caller's and must outlive it.
class ZStream {
 public:
  ZStream(int fd, uint64_t offset);
  ~ZStream();
  ZStream(const ZStream&) = delete;
  ZStream& operator=(const ZStream&) = delete;

  // Up to `size` bytes; fewer only at the end of the stream. Fault::corrupt when it is damaged.
  Result<size_t> read(char* to, size_t size);
  // Exactly `size` more bytes and then the end of the stream.
  Result<std::string> read_exactly(size_t size);

 private:
  struct State;
  Status refill();
  Result<size_t> inflate_into(char* to, size_t size, int flush);
  std::unique_ptr<State> state_;
  // Setting zlib up costs more than unpacking a small object, so a thread keeps its last state.
  static thread_local std::unique_ptr<State> spare_;
};

// A whole buffer as one zlib stream.
std::string deflate_all(std::string_view bytes);

}  // namespace sandglass::git
