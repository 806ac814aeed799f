// The bytes of one configuration file, checked before any parser sees them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/problem.h"

namespace sandglass::config {

inline constexpr size_t kMaxFileBytes = 1 << 20;

// UTF-8 text without byte order mark, lines ended by LF alone. Positions are byte offsets into
// text(); lines and columns count from 1, columns in characters.
class Source {
 public:
  // Refuses what a parser would misread: UTF-16, invalid UTF-8, NUL and other control characters, a
  // CR that ends a line alone. The error is a whole problem text with its place.
  static Result<Source> of(std::string_view bytes, std::string name);

  const std::string& text() const { return text_; }
  const std::shared_ptr<const std::string>& name() const { return name_; }

  Place place_of(size_t position) const;
  // The line (from 1) without its end.
  std::string_view line(size_t number) const;
  size_t line_of(size_t position) const;
  size_t line_start(size_t number) const;
  // The line of `place` with its number, and a mark below the column:
  //     3 | a: b: c
  //       |     ^
  std::string excerpt(const Place& place) const;

 private:
  std::shared_ptr<const std::string> name_;
  std::string text_;
  std::vector<size_t> starts_;  // of lines
};

// Which file this is, whatever it is called.
struct FileId {
  uint64_t device = 0, inode = 0;
  bool operator==(const FileId&) const = default;
};

struct FileText {
  std::string bytes;
  FileId id;
};

// Follows links: the name is the operator's. Says apart: missing, a directory, unreadable, not a
// regular file, over kMaxFileBytes.
Result<FileText> read_config_file(const std::string& name);

}  // namespace sandglass::config
