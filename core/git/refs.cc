#include "git/refs.h"

#include <algorithm>
#include <optional>

namespace sandglass::git {

namespace {

constexpr uint64_t kRefFile = 4096 + 16;
constexpr uint64_t kPackedRefs = 256u << 20;
constexpr int kMaxSymrefs = 5;  // git's own bound

bool is_hash(std::string_view text) {
  return (text.size() == 40 || text.size() == 64) &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
         });
}

// "refs/heads/main"; no component that leads elsewhere.
bool is_ref_name(std::string_view name) {
  if (!name.starts_with("refs/") || name.find('\0') != std::string_view::npos) return false;
  const std::string slashed = std::string(name) + "/";
  return slashed.find("//") == std::string::npos && slashed.find("/.") == std::string::npos;
}

bool is_per_worktree(std::string_view name) {
  return name.starts_with("refs/bisect/") || name.starts_with("refs/worktree/") ||
         name.starts_with("refs/rewritten/");
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' '))
    text.remove_suffix(1);
  return text;
}

std::optional<std::string> packed(const Root& common, const std::string& name) {
  const Result<FileBytes> file = common.read("packed-refs", kPackedRefs);
  if (!file || !S_ISREG(file->mode)) return std::nullopt;
  const std::string wanted = " " + name;
  std::string_view text = file->bytes;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.ends_with(wanted) && is_hash(line.substr(0, line.size() - wanted.size())))
      return std::string(line.substr(0, line.size() - wanted.size()));
  }
  return std::nullopt;
}

// The text of a ref's file, "" when there is none. An old-style symbolic ref is a symbolic link.
std::string loose(const Root& root, const std::string& name) {
  const Result<FileBytes> file = root.read(name, kRefFile);
  if (!file) return "";
  if (S_ISLNK(file->mode)) return "ref: " + file->bytes;
  return std::string(trimmed(file->bytes));
}

}  // namespace

Head read_head(const Place& place) {
  static constexpr std::string_view kWord = "ref:", kBranch = "refs/heads/";
  Head out;
  std::string text = loose(place.git, "HEAD");
  for (int i = 0; i < kMaxSymrefs && text.starts_with(kWord); i++) {
    const std::string name =
        text.substr(std::min(text.find_first_not_of(' ', kWord.size()), text.size()));
    if (!is_ref_name(name)) return out;
    if (i == 0 && name.starts_with(kBranch)) out.branch = name.substr(kBranch.size());
    text = loose(is_per_worktree(name) ? place.git : place.common, name);
    if (text.empty()) text = packed(place.common, name).value_or("");
    if (text.empty()) {
      out.kind = Head::Kind::unborn;
      return out;
    }
  }
  if (!is_hash(text)) return out;
  out.kind = Head::Kind::commit;
  out.commit = text;
  return out;
}

}  // namespace sandglass::git
