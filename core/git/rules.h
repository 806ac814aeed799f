// Which files git ignores, judged by the rules at the baseline or now: what either set ignores is
// ignored, so an agent that empties `.gitignore` opens nothing (rule B8).
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/below.h"
#include "git/content.h"
#include "git/ignore.h"
#include "git/repositories.h"

namespace sandglass::git {

// Patterns for the whole repository as they are now: the user's ignore file (core.excludesFile of
// the user's own configuration, else ~/.config/git/ignore), then info/exclude.
std::vector<std::string> fixed_ignore_lines(const Root& common);

// The `.gitignore` of each directory from the top of the working tree (`workspace` without
// `prefix`) down to the workspace, as they are on disk now.
std::vector<IgnoreAbove> ignore_files_above(const std::string& workspace,
                                            const std::string& prefix);

// Any thread. What the baseline says is remembered, what the disk says is read each time.
class IgnoreRules {
 public:
  // `tracked` may be null: no commit yet. All three must outlive the rules.
  IgnoreRules(const Baseline& baseline, Repositories* tracked, const Root& workspace);

  // The pattern that ignores a file, if one does. `path` is below the workspace. An error when the
  // baseline's rules cannot be read: then nobody knows, and the file must be treated as ignored.
  Result<std::optional<IgnoreMatch>> ignored_by(std::string_view path, bool is_directory = false);

 private:
  using File = std::shared_ptr<const IgnoreFile>;
  Result<File> at_baseline(std::string_view directory);
  File at_ready(std::string_view directory) const;
  File on_disk(std::string_view directory) const;
  bool is_above(std::string_view directory) const;

  const Baseline& baseline_;
  Repositories* tracked_;
  const Root& workspace_;
  File everywhere_;
  std::map<std::string, File, std::less<>> ready_;
  std::mutex mutex_;
  std::map<std::string, File, std::less<>> remembered_;
};

}  // namespace sandglass::git
