// How git converts the line ends of each path, by what was in force at the baseline (rule B6a):
// core.autocrlf, core.eol and info/attributes as read at ready, `.gitattributes` as committed. What
// the agent writes into these changes nothing.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "git/attributes.h"
#include "git/content.h"
#include "git/line_ends.h"
#include "git/repositories.h"

namespace sandglass::git {

// What `config` and info/attributes of a repository say of line ends now.
LineSettings read_line_settings(const Root& common);

// Any thread. What the baseline says is remembered.
class Conversion {
 public:
  // `tracked` may be null: no commit yet. Both must outlive this.
  Conversion(const Baseline& baseline, Repositories* tracked);

  // `path` is below the repository's root. An error when the baseline's attributes cannot be read.
  Result<LineEnds> of(std::string_view path);

 private:
  using File = std::shared_ptr<const AttributeFile>;
  Result<std::string> committed(std::string_view directory);
  Result<File> file_of(std::string_view directory);
  Status read_top();

  const LineSettings& settings_;
  Repositories* tracked_;
  std::mutex mutex_;
  bool top_read_ = false;
  Macros macros_;
  File info_;
  std::map<std::string, File, std::less<>> remembered_;
  size_t lines_held_ = 0;
};

}  // namespace sandglass::git
