#include "api/select.h"

#include <boost/filesystem.hpp>

#include "base/text.h"

namespace fs = boost::filesystem;

namespace sandglass::api {

Result<sandbox::InstanceRecord> find_record(const sandbox::Store& store, const Which& which) {
  if (!which.sandbox.empty()) return store.find(which.sandbox);
  boost::system::error_code code;
  const fs::path here = fs::canonical(which.directory.empty() ? "." : which.directory, code);
  if (code)
    return fail(Fault::not_found,
                "cannot use the directory " + shown(which.directory) + ": " + code.message());
  return store.latest(here.string());
}

static std::string below(const std::string& root, std::string path) {
  if (path == root) return "";
  if (path.compare(0, root.size() + 1, root + "/") == 0) path.erase(0, root.size() + 1);
  while (path.compare(0, 2, "./") == 0) path.erase(0, 2);
  while (!path.empty() && path.back() == '/') path.pop_back();
  return path == "." ? "" : path;
}

Selection::Selection(const std::string& root, const std::vector<std::string>& paths) {
  for (const std::string& path : paths) prefixes_.push_back({path, below(root, path)});
}

bool Selection::has(const std::string& path) const {
  if (prefixes_.empty()) return true;
  bool found = false;
  for (const Prefix& one : prefixes_) {
    const std::string& p = one.path;
    if (!p.empty() && path != p && path.compare(0, p.size() + 1, p + "/") != 0) continue;
    one.met = found = true;
  }
  return found;
}

std::vector<std::string> Selection::unmatched() const {
  std::vector<std::string> out;
  for (const Prefix& one : prefixes_)
    if (!one.met) out.push_back(one.given);
  return out;
}

}  // namespace sandglass::api
