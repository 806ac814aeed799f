#include "git/ignore.h"

#include <algorithm>

namespace sandglass::git {

namespace {

constexpr std::string_view kSpecial = "*?[\\";

// Cuts blanks at the end unless a backslash keeps them.
std::string_view without_trailing_spaces(std::string_view line) {
  size_t keep = 0;
  for (size_t i = 0; i < line.size(); i++) {
    if (line[i] == '\\') {
      if (++i == line.size()) return line;
      keep = i + 1;
    } else if (line[i] != ' ') {
      keep = i + 1;
    }
  }
  return line.substr(0, keep);
}

std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

}  // namespace

IgnorePattern::IgnorePattern(std::string_view line, int number) : text_(line), line_(number) {
  negative_ = line.starts_with('!');
  if (negative_) line.remove_prefix(1);
  directories_only_ = line.ends_with('/');
  if (directories_only_) line.remove_suffix(1);
  name_only_ = line.find('/') == std::string_view::npos;
  const size_t special = line.find_first_of(kSpecial);
  if (name_only_) {
    suffix_ = special == 0 && line[0] == '*' && line.find_first_of(kSpecial, 1) == line.npos;
    if (suffix_ || special == line.npos)
      literal_ = line.substr(suffix_ ? 1 : 0);
    else
      rest_.emplace(line, Wildmatch::Mode::name);
    return;
  }
  // git compares the part before the first special character by itself and matches only what
  // follows: so in "a**/b" the stars stand at the start of a pattern.
  if (line.starts_with('/')) line.remove_prefix(1);
  const size_t plain = std::min(line.find_first_of(kSpecial), line.size());
  literal_ = line.substr(0, plain);
  rest_.emplace(line.substr(plain), Wildmatch::Mode::path);
}

bool IgnorePattern::matches(std::string_view path, bool is_directory) const {
  if (directories_only_ && !is_directory) return false;
  if (name_only_) {
    const std::string_view name = base_name(path);
    if (rest_) return rest_->matches(name);
    return suffix_ ? name.ends_with(literal_) : name == literal_;
  }
  return path.starts_with(literal_) && rest_->matches(path.substr(literal_.size()));
}

std::shared_ptr<const IgnoreFile> IgnoreFile::parse(std::string_view bytes) {
  auto out = std::make_shared<IgnoreFile>();
  if (bytes.starts_with("\xef\xbb\xbf")) bytes.remove_prefix(3);
  for (int number = 1; !bytes.empty(); number++) {
    std::string_view line = bytes.substr(0, bytes.find('\n'));
    bytes.remove_prefix(std::min(bytes.size(), line.size() + 1));
    if (line.empty() || line[0] == '#') continue;
    if (line.ends_with('\r')) line.remove_suffix(1);
    line = without_trailing_spaces(line.substr(0, line.find('\0')));
    if (!line.empty()) out->patterns_.emplace_back(line, number);
  }
  return out;
}

const IgnorePattern* IgnoreFile::last_match(std::string_view path, bool is_directory) const {
  for (auto pattern = patterns_.rbegin(); pattern != patterns_.rend(); ++pattern)
    if (pattern->matches(path, is_directory)) return &*pattern;
  return nullptr;
}

namespace {

struct Level {
  size_t length;  // of the directory's path, its slash included
  std::shared_ptr<const IgnoreFile> file;
};

// The deepest file that speaks of the path decides.
std::optional<IgnoreMatch> match_levels(const IgnoreSet& set, const std::vector<Level>& levels,
                                        std::string_view path, bool is_directory) {
  const auto found = [](const IgnorePattern& pattern, std::string file) {
    return IgnoreMatch{std::move(file), pattern.line(), pattern.text(), !pattern.negative()};
  };
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    if (!level->file) continue;
    if (const auto* pattern = level->file->last_match(path.substr(level->length), is_directory))
      return found(*pattern, std::string(path.substr(0, level->length)) + ".gitignore");
  }
  const auto* pattern = set.everywhere ? set.everywhere->last_match(path, is_directory) : nullptr;
  return pattern ? std::optional(found(*pattern, "")) : std::nullopt;
}

}  // namespace

std::optional<IgnoreMatch> check_ignore(const IgnoreSet& set, std::string_view path,
                                        bool is_directory) {
  std::vector<Level> levels;
  levels.push_back({0, set.of_directory("")});
  for (size_t slash = path.find('/'); slash != path.npos; slash = path.find('/', slash + 1)) {
    const std::string_view directory = path.substr(0, slash);
    std::optional<IgnoreMatch> match = match_levels(set, levels, directory, true);
    if (match && match->ignored) return match;
    levels.push_back({slash + 1, set.of_directory(directory)});
  }
  return match_levels(set, levels, path, is_directory);
}

}  // namespace sandglass::git
