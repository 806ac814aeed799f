// The stat data of `.git/index`: which tracked files are surely what the index says. Hostile data,
// only ever a hint that saves reading a file.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "git/oid.h"

namespace sandglass::git {

class IndexFile {
 public:
  struct Entry {
    uint64_t ctime_ns = 0, mtime_ns = 0;
    uint32_t inode = 0, size = 0;  // the low 32 bits
    uint32_t mode = 0;
    Oid id{};
    size_t path = 0, path_size = 0;  // in paths_
  };

  IndexFile() = default;  // knows nothing
  // Versions 2 to 4. `written_ns` is the file's own time: what is not older may have been changed
  // since without a trace. Fault::corrupt, or Fault::unsupported where entries are elsewhere.
  static Result<IndexFile> parse(std::string_view bytes, uint64_t written_ns);

  // Whether the file with this stat is surely the blob `id` with this mode of git's.
  bool is_clean(std::string_view path, const struct stat& st, uint32_t mode, const Oid& id) const;
  const std::vector<Entry>& entries() const { return entries_; }
  std::string_view path_of(const Entry& entry) const {
    return std::string_view(paths_).substr(entry.path, entry.path_size);
  }

 private:
  std::string paths_;
  std::vector<Entry> entries_;  // by path
  uint64_t written_ns_ = 0;
};

}  // namespace sandglass::git
