// gitignore with exactly git's meaning (gitignore(5), and what `git check-ignore --no-index` says).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "git/wildmatch.h"

namespace sandglass::git {

class IgnorePattern {
 public:
  // One line of a file, blanks at its end already cut.
  IgnorePattern(std::string_view line, int number);

  bool negative() const { return negative_; }
  int line() const { return line_; }
  const std::string& text() const { return text_; }
  // `path` is below the directory of the pattern's file.
  bool matches(std::string_view path, bool is_directory) const;

 private:
  std::string text_;  // as written
  int line_;
  bool negative_ = false, directories_only_ = false, name_only_ = false;
  std::string literal_;            // what the path or name must begin with, or its end for "*.c"
  bool suffix_ = false;            // literal_ is an end
  std::optional<Wildmatch> rest_;  // what must match after the literal part
};

// The patterns of one file. Immutable, any thread.
class IgnoreFile {
 public:
  static std::shared_ptr<const IgnoreFile> parse(std::string_view bytes);
  // The last pattern that matches decides. `path` is below the file's directory.
  const IgnorePattern* last_match(std::string_view path, bool is_directory) const;

 private:
  std::vector<IgnorePattern> patterns_;
};

// The patterns in force: the files of each directory, and those for the whole repository.
struct IgnoreSet {
  // The ignore file of a directory ("" is the repository's root), or null. Called from the root
  // downwards, never below a directory that is ignored.
  std::function<std::shared_ptr<const IgnoreFile>(std::string_view directory)> of_directory;
  std::shared_ptr<const IgnoreFile> everywhere;  // weakest; may be null
};

struct IgnoreMatch {
  std::string file;  // "sub/.gitignore", or "" for a pattern of the whole repository
  int line = 0;
  std::string pattern;
  bool ignored = false;  // false: a negative pattern decided
};

// `path` is below the repository's root. Nothing when no pattern speaks of it. A path inside an
// ignored directory is ignored by that directory's pattern, whatever negative patterns say.
std::optional<IgnoreMatch> check_ignore(const IgnoreSet& set, std::string_view path,
                                        bool is_directory);

}  // namespace sandglass::git
