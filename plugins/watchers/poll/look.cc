#include "look.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace poll {

using sandglass::Error;

static std::string_view above(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

Look::Look(const Find& find, Said said, uint64_t began_ns, uint64_t ended_ns)
    : began_ns_(began_ns), ended_ns_(ended_ns), said_(std::move(said)) {
  if (said_.how != SG_EXIT_CODE || (said_.value != 0 && said_.err.empty()))
    throw Error(SG_E_FAILED, "find did not end well: " + last_words(said_));
  if (!find.read(said_.out, records_))
    throw Error(SG_E_FAILED, "find said what it was not asked: " + last_words(said_));
  const bool root = std::any_of(records_.begin(), records_.end(), [](const Record& record) {
    return record.path.empty() && record.type == 'd';
  });
  if (!root) throw Error(SG_E_FAILED, "find did not see the root: " + last_words(said_));
  group();
  doubt(complaints_of(said_));
}

// Directories in the order they were met, each before what is below it. What stands below a name
// that was no directory when it was looked at is left to the next look.
void Look::group() {
  std::unordered_map<std::string_view, size_t> at;
  for (const Record& record : records_) {
    if (record.type != 'd' || (!record.path.empty() && !at.count(record.dir()))) continue;
    if (at.emplace(record.path, directories_.size()).second)
      directories_.push_back({record.path, {}, true});
  }
  std::string_view memo;
  size_t memo_at = at.at("");
  for (const Record& record : records_) {
    if (record.path.empty()) continue;
    if (const std::string_view dir = record.dir(); dir != memo) {
      const auto found = at.find(dir);
      if (found == at.end()) continue;
      memo = dir;
      memo_at = found->second;
    }
    Directory& directory = directories_[memo_at];
    if (record.type == '?')
      directory.complete = false;
    else
      directory.entries.push_back(&record);
  }
}

void Look::doubt(const Complaints& complaints) {
  if (!complaints.all && complaints.places.empty()) return;
  std::unordered_set<std::string_view> known, doubted;
  for (const Directory& one : directories_) known.insert(one.path);
  bool all = complaints.all;
  for (const Complaints::Place& place : complaints.places) {
    const std::string_view paths[] = {place.written, place.plain};
    bool is_directory = false, found = false;
    for (const std::string_view path : paths) is_directory |= known.count(path) != 0;
    // A directory could not be read, or a name in one not be looked at.
    for (const std::string_view path : paths) {
      const std::string_view doubtful = is_directory ? path : above(path);
      found |= known.count(doubtful) != 0;
      doubted.insert(doubtful);
    }
    all |= !found;
  }
  // A name of several lines could have made one complaint look like two others.
  for (Directory& one : directories_)
    if (all || doubted.count(one.path) || one.path.find('\n') != std::string_view::npos)
      one.complete = false;
}

size_t Look::incomplete() const {
  return static_cast<size_t>(std::count_if(directories_.begin(), directories_.end(),
                                           [](const Directory& one) { return !one.complete; }));
}

}  // namespace poll
