#include "git/needed.h"

#include <unordered_set>

#include "git/pack_writer.h"

namespace sandglass::git {

namespace {

constexpr size_t kMostObjects = 20'000'000;

class Walk {
 public:
  Walk(Snapshot& snapshot, const std::function<bool(const Oid&, ObjectType)>& fn)
      : snapshot_(snapshot), fn_(fn) {}

  bool all(const std::string& prefix) {
    const Result<Oid> root = snapshot_.root();
    if (!root) return false;
    if (*root != snapshot_.top()) take(snapshot_.top(), ObjectType::commit);
    above(*root, prefix);
    while (!todo_.empty() && !stopped_) {
      const Oid id = todo_.back();
      todo_.pop_back();
      each_entry(id, [&](const NamedEntry& one) { entry(one.entry); });
    }
    return whole_ && !stopped_;
  }

 private:
  void take(const Oid& id, ObjectType type) {
    if (stopped_ || !seen_.insert(id).second) return;
    if (seen_.size() > kMostObjects || !fn_(id, type)) stopped_ = true;
    if (type == ObjectType::tree) todo_.push_back(id);
  }

  void entry(const TreeEntry& entry) {
    if (entry.mode == kDirectory)
      take(entry.id, ObjectType::tree);
    else if (entry.mode != kSubmodule)
      take(entry.id, ObjectType::blob);
  }

  template <class F>
  void each_entry(const Oid& id, F&& fn) {
    const Result<ObjectPtr> tree = snapshot_.tree(id);
    if (!tree) {
      whole_ = false;
      return;
    }
    for (const NamedEntry& one : parse_tree((*tree)->bytes)) fn(one);
  }

  void above(const Oid& id, const std::string& prefix) {
    if (prefix.empty()) return take(id, ObjectType::tree);
    if (!fn_(id, ObjectType::tree)) stopped_ = true;
    const size_t slash = prefix.find('/');
    const std::string name = prefix.substr(0, slash);
    each_entry(id, [&](const NamedEntry& one) {
      if (one.name == ".gitignore" || one.name == ".gitattributes") entry(one.entry);
      if (one.name != name || stopped_) return;
      if (one.entry.mode == kDirectory)
        above(one.entry.id, slash == std::string::npos ? "" : prefix.substr(slash + 1));
      else
        entry(one.entry);
    });
  }

  Snapshot& snapshot_;
  const std::function<bool(const Oid&, ObjectType)>& fn_;
  std::unordered_set<Oid, OidHash> seen_;
  std::vector<Oid> todo_;
  bool whole_ = true, stopped_ = false;
};

}  // namespace

bool each_needed(Snapshot& snapshot, const std::string& prefix,
                 const std::function<bool(const Oid&, ObjectType)>& fn) {
  return Walk(snapshot, fn).all(prefix);
}

}  // namespace sandglass::git
