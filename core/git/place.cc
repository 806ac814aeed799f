#include "git/place.h"

#include <fcntl.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>

#include "base/text.h"
#include "git/gitconfig.h"

namespace sandglass::git {

namespace {

constexpr uint64_t kSmallFile = 1 << 20;

std::string parent_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

std::string join(const std::string& dir, const std::string& name) {
  return dir.ends_with('/') ? dir + name : dir + "/" + name;
}

// Absolute, `..` and links resolved; empty when it does not exist.
std::string resolved(const std::string& base, const std::string& path) {
  char out[PATH_MAX];
  const std::string full = path.starts_with('/') ? path : join(base, path);
  return ::realpath(full.c_str(), out) ? out : "";
}

// The first line of a small regular file, or nothing.
std::optional<std::string> line_of(const Root& root, const std::string& name) {
  Result<FileBytes> file = root.read(name, kSmallFile);
  if (!file || !S_ISREG(file->mode)) return std::nullopt;
  std::string text = file->bytes.substr(0, file->bytes.find('\n'));
  if (text.ends_with('\r')) text.pop_back();
  if (text.empty() || text.find('\0') != std::string::npos) return std::nullopt;
  return text;
}

bool is_directory(const Root& root, const std::string& name) {
  struct stat st;
  return root.stat_below(name, st) && S_ISDIR(st.st_mode);
}

// What git asks of a directory before it believes that it is a repository.
bool is_repository(const Root& git, const Root& common) {
  struct stat head;
  return git.stat_below("HEAD", head) && is_directory(common, "objects") &&
         is_directory(common, "refs");
}

Discovery refuse(std::string note) {
  return {std::nullopt, std::move(note), true};
}

Discovery from_directory(const std::string& path) {
  Result<Root> git = open_exact(path), common = open_exact(path);
  if (!git || !common) return refuse((git ? common : git).error().text);
  struct stat st;
  if (git->stat_below("commondir", st))
    return refuse(shown(path) + " claims to be a linked worktree, but it is a directory");
  if (git->stat_below("objects", st) && S_ISLNK(st.st_mode))
    return refuse(shown(path) + "/objects is a symbolic link, which is not followed");
  if (!is_repository(*git, *common)) return {};
  return {Place{std::move(*git), std::move(*common), path, ""}, "", false};
}

Discovery from_linked_worktree(Root git, const std::string& path, const std::string& top) {
  const std::string back = line_of(git, "gitdir").value_or("");
  if (back.empty() || resolved(path, parent_of(back)) != top || !back.ends_with("/.git"))
    return refuse(shown(top) + "/.git points to " + shown(path) + ", which does not point back");
  const std::string common = resolved(path, line_of(git, "commondir").value_or(""));
  if (parent_of(path) != join(common, "worktrees"))
    return refuse(shown(path) + " names a common directory that it does not belong to");
  Result<Root> root = open_exact(common);
  if (!root || !is_repository(git, *root))
    return refuse("the repository " + shown(common) + " of a linked worktree cannot be read");
  return {Place{std::move(git), std::move(*root), common, ""}, "", false};
}

// A submodule's git directory names its working tree in core.worktree.
Discovery from_submodule(Root git, const std::string& path, const std::string& top) {
  Result<FileBytes> file = git.read("config", kSmallFile);
  const GitConfig config = parse_git_config(file ? file->bytes : "");
  const auto tree = config.find("core.worktree");
  if (tree == config.end() || resolved(path, tree->second) != top)
    return refuse(shown(top) + "/.git points to " + shown(path) + ", which does not point back");
  Result<Root> common = open_exact(path);
  if (!common || !is_repository(git, *common))
    return refuse("the repository " + shown(path) + " cannot be read");
  return {Place{std::move(git), std::move(*common), path, ""}, "", false};
}

Discovery from_pointer(const Root& dir, const std::string& top) {
  static constexpr std::string_view kWord = "gitdir: ";
  const std::string line = line_of(dir, ".git").value_or("");
  if (!line.starts_with(kWord)) return refuse(shown(top) + "/.git is a file, but names no gitdir");
  const std::string named = line.substr(kWord.size());
  const std::string path = resolved(top, named);
  Result<Root> git = path.empty() ? fail(Fault::not_found, "") : open_exact(path);
  if (!git)
    return refuse(shown(top) + "/.git points to " + shown(named) +
                  ", which is not here; is the workspace mounted without its repository?");
  struct stat st;
  if (git->stat_below("commondir", st)) return from_linked_worktree(std::move(*git), path, top);
  return from_submodule(std::move(*git), path, top);
}

// Somebody else's repository above the workspace: used, as the workspace is inside it, but said.
std::string note_of_owner(const std::string& top, const struct stat& git, const struct stat& ws) {
  if (git.st_uid == ws.st_uid || git.st_uid == 0 || git.st_uid == ::geteuid()) return "";
  return "the repository " + shown(top) + " above the workspace belongs to user " +
         std::to_string(git.st_uid);
}

Discovery look_at(const Root& dir, const std::string& path, const struct stat& git) {
  if (S_ISDIR(git.st_mode)) return from_directory(join(path, ".git"));
  if (S_ISREG(git.st_mode)) return from_pointer(dir, path);
  if (S_ISLNK(git.st_mode))
    return refuse(shown(path) + "/.git is a symbolic link, which is not followed");
  return {};
}

}  // namespace

Result<Root> open_exact(const std::string& absolute) {
  Result<Root> top = Root::open("/");
  if (!top || absolute == "/") return top;
  Result<Fd> fd = top->open_below(std::string_view(absolute).substr(1), O_PATH | O_DIRECTORY);
  if (!fd) return tl::unexpected(fd.error());
  return Root::open("/proc/self/fd/" + std::to_string(fd->get()));
}

Discovery repository_at(const std::string& directory) {
  struct stat git;
  const Result<Root> root = open_exact(directory);
  if (!root || !root->stat_below(".git", git)) return {};
  return look_at(*root, directory, git);
}

Discovery find_repository(const std::string& workspace) {
  struct stat start {
  }, here{}, git{};
  for (std::string dir = workspace;; dir = parent_of(dir)) {
    Result<Root> root = open_exact(dir);
    if (!root || !root->stat_below("", here)) return {};
    if (dir == workspace) start = here;
    if (here.st_dev != start.st_dev) return {};
    if (root->stat_below(".git", git)) {
      Discovery found = look_at(*root, dir, git);
      if (found.place && dir != workspace) {
        found.place->prefix = workspace.substr(dir == "/" ? 1 : dir.size() + 1);
        found.note = note_of_owner(dir, git, start);
      }
      if (found.place || found.refused) return found;
    }
    if (dir == "/") return {};
  }
}

}  // namespace sandglass::git
