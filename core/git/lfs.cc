#include "git/lfs.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "base/hash.h"

namespace sandglass::git {

namespace {

constexpr size_t kMaxPointer = 1024, kDigits = 64, kPart = 65536;
constexpr std::string_view kVersion = "version https://git-lfs.github.com/spec/v1\n",
                           kOid = "oid sha256:", kSize = "size ";

bool take(std::string_view& text, std::string_view expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(expected.size());
  return true;
}

bool is_hex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == text.npos;
}

}  // namespace

std::optional<LfsPointer> parse_lfs_pointer(std::string_view blob) {
  if (blob.size() >= kMaxPointer || !take(blob, kVersion) || !take(blob, kOid)) return std::nullopt;
  LfsPointer out;
  out.sha256 = blob.substr(0, kDigits);
  if (out.sha256.size() != kDigits || !is_hex(out.sha256)) return std::nullopt;
  blob.remove_prefix(kDigits);
  if (!take(blob, "\n") || !take(blob, kSize)) return std::nullopt;
  const char* end = blob.data() + blob.size();
  const auto [at, error] = std::from_chars(blob.data(), end, out.size);
  const bool leading_zero = blob.starts_with('0') && at != blob.data() + 1;
  if (error != std::errc() || leading_zero || std::string_view(at, end) != "\n")
    return std::nullopt;
  return out;
}

std::optional<std::string> read_proven(const Root& root, std::string_view path,
                                       const LfsPointer& pointer, uint64_t cap) {
  struct stat st;
  if (!root.stat_below(path, st) || !S_ISREG(st.st_mode)) return std::nullopt;
  if (static_cast<uint64_t>(st.st_size) != pointer.size) return std::nullopt;
  const Fd fd(root.try_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY));
  if (!fd || ::fstat(fd.get(), &st) < 0 || !S_ISREG(st.st_mode)) return std::nullopt;
  Sha256 hash;
  std::string first, part(kPart, '\0');
  for (uint64_t have = 0;;) {
    const ssize_t n = ::read(fd.get(), part.data(), part.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return std::nullopt;
    if (n == 0) break;
    const std::string_view got(part.data(), static_cast<size_t>(n));
    have += got.size();
    if (have > pointer.size) return std::nullopt;  // it grows
    hash.add(got);
    first.append(got.substr(0, cap - std::min<uint64_t>(cap, first.size())));
  }
  if (hash.hex() != pointer.sha256) return std::nullopt;
  return first;
}

std::string path_in_store(const LfsPointer& pointer) {
  return pointer.sha256.substr(0, 2) + "/" + pointer.sha256.substr(2, 2) + "/" + pointer.sha256;
}

}  // namespace sandglass::git
