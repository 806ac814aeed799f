#include "git/alternates.h"

#include <algorithm>
#include <climits>
#include <cstdlib>

#include "git/place.h"
#include "git/quote.h"

namespace sandglass::git {

namespace {

constexpr int kMaxDepth = 5;
constexpr size_t kMaxDirectories = 64;
constexpr uint64_t kFile = 1 << 20;

std::string resolved(const std::string& path) {
  char out[PATH_MAX];
  return ::realpath(path.c_str(), out) ? out : "";
}

void collect(const std::string& objects, int depth, std::vector<std::string>& out) {
  const Result<Root> root = open_exact(objects);
  const Result<FileBytes> file =
      root ? root->read("info/alternates", kFile) : fail(Fault::not_found, "");
  if (!file || !S_ISREG(file->mode)) return;
  std::string_view text = file->bytes;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.empty() || line[0] == '#') continue;
    const std::string name = line[0] == '"' ? unquote_name(line).value_or("") : std::string(line);
    // As git: a relative path counts only in the repository's own file.
    if (name.empty() || name.find('\0') != std::string::npos) continue;
    if (name[0] != '/' && depth > 0) continue;
    const std::string path = resolved(name[0] == '/' ? name : objects + "/" + name);
    if (path.empty() || out.size() >= kMaxDirectories) continue;
    if (std::find(out.begin(), out.end(), path) != out.end()) continue;
    out.push_back(path);
    if (depth + 1 < kMaxDepth) collect(path, depth + 1, out);
  }
}

}  // namespace

std::vector<std::string> read_alternates(const std::string& objects) {
  std::vector<std::string> out{objects};  // so that a loop ends here
  collect(objects, 0, out);
  out.erase(out.begin());
  return out;
}

}  // namespace sandglass::git
