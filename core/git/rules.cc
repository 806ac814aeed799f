#include "git/rules.h"

#include <cstdlib>
#include <fstream>

#include "base/text.h"
#include "git/gitconfig.h"
#include "git/place.h"

namespace sandglass::git {

namespace {

constexpr uint64_t kMaxFile = 8u << 20;
constexpr size_t kMaxRemembered = 4096;
constexpr std::string_view kName = ".gitignore";

void append_lines(std::vector<std::string>& out, std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty() && line[0] != '#') out.emplace_back(line);
  }
}

std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) (out += line) += '\n';
  return out;
}

// The user's own file, links followed.
std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string out;
  char part[16384];
  while (out.size() < kMaxFile && (in.read(part, sizeof part), in.gcount() > 0))
    out.append(part, static_cast<size_t>(in.gcount()));
  return out;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string user_ignore_file() {
  const std::string home = environment("HOME");
  std::string folder = environment("XDG_CONFIG_HOME");
  if (folder.empty()) folder = home + "/.config";
  std::string out = folder + "/git/ignore";
  for (const std::string& path :
       {std::string("/etc/gitconfig"), folder + "/git/config", home + "/.gitconfig"}) {
    const GitConfig config = parse_git_config(text_of(path));
    if (const auto found = config.find("core.excludesfile"); found != config.end())
      out = found->second;
  }
  return out.starts_with("~/") ? home + out.substr(1) : out;
}

// Only a regular file counts; git does not follow a symbolic link there either.
std::string regular_text(const Root& root, const std::string& name) {
  Result<FileBytes> file = root.read(name, kMaxFile);
  return file && S_ISREG(file->mode) ? std::move(file->bytes) : "";
}

}  // namespace

std::vector<std::string> fixed_ignore_lines(const Root& common) {
  std::vector<std::string> out;
  append_lines(out, text_of(user_ignore_file()));
  append_lines(out, regular_text(common, "info/exclude"));
  return out;
}

std::vector<IgnoreAbove> ignore_files_above(const std::string& workspace,
                                            const std::string& prefix) {
  std::vector<IgnoreAbove> out;
  const std::string top = workspace.substr(0, workspace.size() - prefix.size());
  for (size_t end = 0; end != std::string::npos;) {
    const std::string directory = prefix.substr(0, end);
    const std::string path = top + (top.ends_with('/') ? "" : "/") + directory;
    if (Result<Root> root = open_exact(path)) {
      std::vector<std::string> lines;
      append_lines(lines, regular_text(*root, std::string(kName)));
      if (!lines.empty()) out.push_back({directory, std::move(lines)});
    }
    if (end == prefix.size()) break;
    end = std::min(prefix.find('/', end + 1), prefix.size());
  }
  return out;
}

IgnoreRules::IgnoreRules(const Baseline& baseline, Repositories* tracked, const Root& workspace)
    : baseline_(baseline), tracked_(tracked), workspace_(workspace) {
  everywhere_ = IgnoreFile::parse(joined(baseline.ignore_lines));
  for (const IgnoreAbove& file : baseline.ignore_files)
    ready_[file.directory] = IgnoreFile::parse(joined(file.lines));
}

// The directories from the repository's root to the workspace, the latter included.
bool IgnoreRules::is_above(std::string_view directory) const {
  const std::string_view prefix = baseline_.prefix;
  return directory.empty() || directory == prefix ||
         (prefix.starts_with(directory) && prefix[directory.size()] == '/');
}

Result<IgnoreRules::File> IgnoreRules::at_baseline(std::string_view directory) {
  if (!tracked_) return File();
  {
    std::lock_guard lock(mutex_);
    if (const auto found = remembered_.find(directory); found != remembered_.end())
      return found->second;
  }
  std::string path(directory);
  path += path.empty() ? "" : "/";
  path += kName;
  File out;
  const auto entry = tracked_->find_from_root(path);
  if (!entry) return tl::unexpected(entry.error());
  if (*entry && ((*entry)->mode & 0170000) == 0100000) {
    const Result<ObjectPtr> blob = tracked_->blob((*entry)->id, kMaxFile);
    if (!blob) return tl::unexpected(blob.error());
    if (!(*blob)->whole())
      return fail(Fault::corrupt, shown(path) + " of the baseline is too large");
    out = IgnoreFile::parse((*blob)->bytes);
  }
  std::lock_guard lock(mutex_);
  if (remembered_.size() >= kMaxRemembered) remembered_.clear();
  remembered_[std::string(directory)] = out;
  return out;
}

IgnoreRules::File IgnoreRules::at_ready(std::string_view directory) const {
  const auto found = ready_.find(directory);
  return found == ready_.end() ? nullptr : found->second;
}

IgnoreRules::File IgnoreRules::on_disk(std::string_view directory) const {
  const std::string_view prefix = baseline_.prefix;
  if (is_above(directory) && directory.size() < prefix.size()) return at_ready(directory);
  std::string path(
      directory.substr(std::min(directory.size(), prefix.empty() ? 0 : prefix.size() + 1)));
  path += path.empty() ? "" : "/";
  path += kName;
  const std::string text = regular_text(workspace_, path);
  return text.empty() ? nullptr : IgnoreFile::parse(text);
}

Result<std::optional<IgnoreMatch>> IgnoreRules::ignored_by(std::string_view path,
                                                           bool is_directory) {
  const std::string full =
      baseline_.prefix.empty() ? std::string(path) : baseline_.prefix + "/" + std::string(path);
  std::optional<Error> error;
  const auto committed = [&](std::string_view directory) -> File {
    Result<File> file = at_baseline(directory);
    if (file) return *file;
    error = file.error();
    return nullptr;
  };
  const IgnoreSet sets[] = {
      {committed, everywhere_},
      {[&](std::string_view dir) { return is_above(dir) ? at_ready(dir) : committed(dir); },
       everywhere_},
      {[&](std::string_view dir) { return on_disk(dir); }, everywhere_},
  };
  for (const IgnoreSet& set : sets) {
    std::optional<IgnoreMatch> match = check_ignore(set, full, is_directory);
    if (match && match->ignored) return match;
  }
  if (error) return tl::unexpected(*error);
  return std::optional<IgnoreMatch>();
}

}  // namespace sandglass::git
