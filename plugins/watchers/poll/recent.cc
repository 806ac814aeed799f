#include "recent.h"

#include <algorithm>

namespace poll {

namespace {

constexpr int64_t kTickNs = 20'000'000;
constexpr int64_t kCoarseTickNs = 2'100'000'000;  // whole seconds, or two (FAT)
constexpr size_t kMostWords = 1000;               // of one command
constexpr size_t kMostBytes = 64 * 1024;

int64_t tick_of(int64_t stamp_ns) {
  return stamp_ns % 1'000'000'000 == 0 ? kCoarseTickNs : kTickNs;
}

// Some tools escape these, some do not.
bool is_odd(std::string_view path) {
  return path.find_first_of("\n\\") != std::string_view::npos;
}

// A line "HASH  ./a" or "SUM SIZE ./a": where the name begins.
size_t name_at(std::string_view line, bool is_cksum) {
  size_t at = line.find(' ');
  if (at == std::string_view::npos) return at;
  if (is_cksum) at = line.find(' ', at + 1);
  if (at == std::string_view::npos) return at;
  return at + (is_cksum ? 1 : 2);
}

}  // namespace

std::vector<std::string> Recent::compare(const Look& look, const Box& box, sandglass::Call call) {
  int64_t newest = 0;
  for (const Record& record : look.records()) newest = std::max(newest, record.ctime_ns);
  Files next;
  Argv open, settling;
  for (const Record& record : look.records()) {
    if (record.type != 'f') continue;
    const int64_t tick = tick_of(record.ctime_ns);
    const bool near = record.ctime_ns + tick >= newest;
    if (!near && files_.empty()) continue;
    const Stamp stamp{record.inode, record.size, record.mtime_ns, record.ctime_ns};
    const auto was = files_.find(record.path);
    if (was != files_.end() && was->second.stamp == stamp) {
      const One& one = was->second;
      if (one.settled && !near) continue;
      if (!one.settled) open.push_back(was->first);
      if (!near || look.began_ns() > one.open_until_ns) settling.push_back(was->first);
      next.insert(files_.extract(was));
    } else if (near) {
      open.emplace_back(record.path);
      next[std::string(record.path)] = {
          stamp, look.ended_ns() + static_cast<uint64_t>(tick), false, {}};
    }
  }
  files_ = std::move(next);
  std::vector<std::string> changed;
  if (open.empty()) return changed;
  for (auto& [path, hash] : hash(open, box, call)) {
    One& one = files_.at(path);
    if (!one.hash.empty() && one.hash != hash) changed.push_back(path);
    one.hash = std::move(hash);
  }
  for (const std::string& path : settling) files_.at(path).settled = true;
  return changed;
}

void Recent::find_tool(const Box& box, sandglass::Call call) {
  if (tried_) return;
  tried_ = true;
  for (const char* tool : {"sha1sum", "md5sum", "cksum"}) {
    const Said said = box.run(call, {tool, "/dev/null"});
    if (!said.well() || said.out.empty()) continue;
    tool_ = tool;
    return;
  }
}

std::map<std::string, std::string> Recent::hash(const Argv& paths, const Box& box,
                                                sandglass::Call call) {
  std::map<std::string, std::string> out;
  find_tool(box, call);
  if (tool_.empty()) return out;
  Argv some;
  size_t bytes = 0;
  for (const std::string& path : paths) {
    if (is_odd(path)) {
      hash_some({path}, box, call, out);
      continue;
    }
    some.push_back(path);
    bytes += path.size();
    if (some.size() < kMostWords && bytes < kMostBytes) continue;
    hash_some(some, box, call, out);
    some.clear();
    bytes = 0;
  }
  if (!some.empty()) hash_some(some, box, call, out);
  return out;
}

// What is no file any more is not opened: a fifo would never end. One that is missing in the output
// stays unknown until the next look.
void Recent::hash_some(const Argv& paths, const Box& box, sandglass::Call call,
                       std::map<std::string, std::string>& out) {
  Argv words = {"find"};
  for (const std::string& path : paths) words.push_back("./" + path);
  words.insert(words.end(), {"-prune", "-type", "f", "-exec", tool_, "{}", "+"});
  const Said said = box.run(call, words);
  const bool is_cksum = tool_ == "cksum";
  if (paths.size() == 1) {
    const size_t at = name_at(said.out, is_cksum);
    if (at != std::string::npos) out[paths[0]] = said.out.substr(0, at);
    return;
  }
  std::string_view rest = said.out;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const size_t at = name_at(line, is_cksum);
    if (at == std::string_view::npos || !line.substr(at).starts_with("./")) continue;
    const std::string path(line.substr(at + 2));
    if (files_.count(path) != 0) out[path] = std::string(line.substr(0, at));
  }
}

}  // namespace poll
