#include "git/conversion.h"

#include "base/log.h"
#include "base/text.h"
#include "git/gitconfig.h"

namespace sandglass::git {

namespace {

constexpr uint64_t kMaxConfig = 1u << 20, kMaxInfo = 1u << 20, kMaxFile = 8u << 20;
constexpr size_t kMaxRemembered = 4096, kMaxLinesHeld = 400'000;
constexpr std::string_view kName = ".gitattributes";

std::string regular_text(const Root& root, const std::string& name, uint64_t cap) {
  Result<FileBytes> file = root.read(name, cap);
  return file && S_ISREG(file->mode) ? std::move(file->bytes) : "";
}

}  // namespace

LineSettings read_line_settings(const Root& common) {
  LineSettings out;
  const GitConfig config = parse_git_config(regular_text(common, "config", kMaxConfig));
  if (const auto found = config.find("core.autocrlf"); found != config.end())
    out.autocrlf = found->second;
  if (const auto found = config.find("core.eol"); found != config.end()) out.eol = found->second;
  out.attributes = regular_text(common, "info/attributes", kMaxInfo);
  return out;
}

Conversion::Conversion(const Baseline& baseline, Repositories* tracked)
    : settings_(baseline.line_settings), tracked_(tracked) {}

Result<std::string> Conversion::committed(std::string_view directory) {
  if (!tracked_) return std::string();
  std::string path(directory);
  path += path.empty() ? "" : "/";
  path += kName;
  const auto entry = tracked_->find_from_root(path);
  if (!entry) return tl::unexpected(entry.error());
  if (!*entry || ((*entry)->mode & 0170000) != 0100000) return std::string();
  const Result<ObjectPtr> blob = tracked_->blob((*entry)->id, kMaxFile);
  if (!blob) return tl::unexpected(blob.error());
  if (!(*blob)->whole())
    log::warn(shown(path) + " of the baseline is too large: line ends are not converted by it");
  return (*blob)->bytes;
}

// Macros are defined at the top only; all other files are read by them.
Status Conversion::read_top() {
  std::lock_guard lock(mutex_);
  if (top_read_) return {};
  const Result<std::string> top = committed("");
  if (!top) return tl::unexpected(top.error());
  macros_ = built_in_macros();
  AttributeFile::read_macros(*top, macros_);
  AttributeFile::read_macros(settings_.attributes, macros_);
  info_ = AttributeFile::parse(settings_.attributes, macros_);
  remembered_[""] = AttributeFile::parse(*top, macros_);
  top_read_ = true;
  return {};
}

Result<Conversion::File> Conversion::file_of(std::string_view directory) {
  {
    std::lock_guard lock(mutex_);
    if (const auto found = remembered_.find(directory); found != remembered_.end())
      return found->second;
  }
  const Result<std::string> text = committed(directory);
  if (!text) return tl::unexpected(text.error());
  File out = text->empty() ? nullptr : AttributeFile::parse(*text, macros_);
  std::lock_guard lock(mutex_);
  lines_held_ += out ? out->lines() : 0;
  if (remembered_.size() >= kMaxRemembered || lines_held_ > kMaxLinesHeld) {
    remembered_.clear();
    lines_held_ = out ? out->lines() : 0;
  }
  remembered_[std::string(directory)] = out;
  return out;
}

Result<LineEnds> Conversion::of(std::string_view path) {
  if (Status read = read_top(); !read) return tl::unexpected(read.error());
  std::optional<Error> error;
  AttributeSet set;
  set.macros = &macros_;
  set.info = info_;
  set.of_directory = [&](std::string_view directory) -> File {
    Result<File> file = file_of(directory);
    if (file) return *file;
    error = file.error();
    return nullptr;
  };
  const LineAttributes attributes = line_attributes(set, path);
  if (error) return tl::unexpected(*error);
  return line_ends_of(attributes, settings_.autocrlf, settings_.eol);
}

}  // namespace sandglass::git
