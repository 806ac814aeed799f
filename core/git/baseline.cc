#include <climits>
#include <cstdlib>

#include "base/text.h"
#include "git/alternates.h"
#include "git/content.h"
#include "git/conversion.h"
#include "git/gitconfig.h"
#include "git/place.h"
#include "git/refs.h"
#include "git/rules.h"

namespace sandglass::git {

namespace {

constexpr uint64_t kConfigFile = 1 << 20;

std::string setting(const GitConfig& config, const std::string& key) {
  const auto found = config.find(key);
  return found == config.end() ? "" : found->second;
}

// Why the repository cannot be read, or "".
std::string obstacle(const Place& place, const Head& head) {
  const Result<FileBytes> file = place.common.read("config", kConfigFile);
  const GitConfig config = parse_git_config(file ? file->bytes : "");
  const std::string hash = setting(config, "extensions.objectformat");
  const std::string refs = setting(config, "extensions.refstorage");
  struct stat st;
  if ((!refs.empty() && refs != "files") || place.common.stat_below("reftable", st))
    return "the repository keeps its refs in the reftable format, which is not supported";
  if (head.kind == Head::Kind::unborn) return "";
  if ((!hash.empty() && hash != "sha1") || head.commit.size() == 64)
    return "the repository uses " + (hash.empty() ? "sha256" : shown(hash)) +
           " object ids, which are not supported";
  if (head.kind == Head::Kind::unreadable) return "HEAD of the repository cannot be read";
  return "";
}

}  // namespace

Baseline pin_baseline(const std::string& workspace) {
  Baseline out;
  char real[PATH_MAX];
  if (!::realpath(workspace.c_str(), real)) {
    out.note = "the workspace " + shown(workspace) + " cannot be resolved";
    return out;
  }
  Discovery found = find_repository(real);
  out.note = found.note;
  if (!found.place) {
    if (found.refused) out.kind = BaselineKind::unsupported;
    return out;
  }
  const Place& place = *found.place;
  const Head head = read_head(place);
  out.branch = head.branch;
  out.prefix = place.prefix;
  out.ignore_lines = fixed_ignore_lines(place.common);
  out.ignore_files = ignore_files_above(real, place.prefix);
  if (std::string why = obstacle(place, head); !why.empty()) {
    out.kind = BaselineKind::unsupported;
    out.note = std::move(why);
    return out;
  }
  out.kind = head.kind == Head::Kind::commit ? BaselineKind::commit : BaselineKind::no_commit;
  out.commit = head.commit;
  out.objects = place.common_path + "/objects";
  out.alternates = read_alternates(out.objects);
  out.line_settings = read_line_settings(place.common);
  out.lfs_store = place.common_path + "/lfs/objects";
  return out;
}

std::optional<Nested> nested_at(const std::string& workspace, const std::string& path) {
  const Discovery found = repository_at(workspace + "/" + path);
  if (!found.place) return std::nullopt;
  const Head head = read_head(*found.place);
  if (!obstacle(*found.place, head).empty()) return std::nullopt;
  Nested out;
  out.path = path;
  out.commit = head.commit;
  out.objects = found.place->common_path + "/objects";
  out.alternates = read_alternates(out.objects);
  return out;
}

}  // namespace sandglass::git
