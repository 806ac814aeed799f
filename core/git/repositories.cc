#include "git/repositories.h"

#include <sys/stat.h>

#include <algorithm>

#include "base/log.h"
#include "git/pin.h"

namespace sandglass::git {

namespace {

bool is_below(std::string_view path, std::string_view directory) {
  return directory.empty() || (path.size() > directory.size() && path.starts_with(directory) &&
                               path[directory.size()] == '/');
}

}  // namespace

Result<std::shared_ptr<Objects>> open_objects(const Baseline& baseline) {
  std::vector<std::string> pinned, own;
  if (!baseline.pin.empty()) pinned = {baseline.pin + "/objects", baseline.pin + "/links"};
  const auto add = [&](const std::string& objects, const std::vector<std::string>& alternates) {
    if (objects.empty()) return;
    own.push_back(objects);
    own.insert(own.end(), alternates.begin(), alternates.end());
  };
  add(baseline.objects, baseline.alternates);
  for (const Nested& nested : baseline.nested) add(nested.objects, nested.alternates);
  if (pinned.empty() || pin_state(baseline.pin).word == PinWord::held) {
    pinned.insert(pinned.end(), own.begin(), own.end());
    own.clear();
  }
  auto opened = Objects::open(pinned, own);
  if (!opened) return tl::unexpected(opened.error());
  return std::shared_ptr<Objects>(std::move(*opened));
}

Result<std::unique_ptr<Repositories>> Repositories::open(const Baseline& baseline) {
  std::unique_ptr<Repositories> out(new Repositories(baseline.prefix));
  const bool snapshot = baseline.snapshot && !baseline.tree.empty();
  if (!snapshot && baseline.kind != BaselineKind::commit && baseline.nested.empty()) return out;
  const auto objects = open_objects(baseline);
  if (!objects)
    log::error("the session baseline is lost: " + objects.error().text +
               "; before() and diff() stay empty");
  const auto top = [&](const std::string& tree, const std::string& commit) {
    return baseline.snapshot && !tree.empty() ? tree : commit;
  };
  for (const Nested& one : baseline.nested)
    out->add(one.path, "", top(one.tree, one.commit), objects);
  std::sort(out->all_.begin(), out->all_.end(),
            [](const One& a, const One& b) { return a.path.size() > b.path.size(); });
  if (snapshot || baseline.kind == BaselineKind::commit) {
    if (!parse_oid(top(baseline.tree, baseline.commit)))
      return fail(Fault::corrupt, "the stored baseline names no commit");
    out->add("", baseline.prefix, top(baseline.tree, baseline.commit), objects);
  }
  if (objects) out->objects_ = *objects;
  return out;
}

void Repositories::add(std::string path, std::string prefix, const std::string& top,
                       const Result<std::shared_ptr<Objects>>& objects) {
  One one{std::move(path), std::move(prefix), nullptr, {}};
  if (!objects)
    one.lost = "the session baseline is lost";
  else if (const std::optional<Oid> id = parse_oid(top))
    one.snapshot = std::make_unique<Snapshot>(*objects, *id);
  all_.push_back(std::move(one));
}

const Repositories::One* Repositories::of(std::string_view path) const {
  for (const One& one : all_)
    if (is_below(path, one.path)) return &one;
  return nullptr;
}

bool Repositories::is_own(std::string_view path) const {
  const One* one = of(path);
  return one && one->path.empty();
}

Result<std::optional<TreeEntry>> Repositories::find(std::string_view path) {
  const One* one = of(path);
  if (!one) return std::optional<TreeEntry>();
  if (!one->lost.empty()) return fail(Fault::lost, one->lost);
  if (!one->snapshot) return std::optional<TreeEntry>();
  if (!one->path.empty()) path.remove_prefix(one->path.size() + 1);
  return one->snapshot->find(one->prefix.empty() ? std::string(path)
                                                 : one->prefix + "/" + std::string(path));
}

Result<std::optional<TreeEntry>> Repositories::find_from_root(std::string_view path) {
  if (is_below(path, prefix_))
    return find(prefix_.empty() ? path : path.substr(prefix_.size() + 1));
  if (all_.empty() || !all_.back().path.empty() || !all_.back().snapshot)
    return std::optional<TreeEntry>();
  return all_.back().snapshot->find(path);
}

Result<ObjectPtr> Repositories::blob(const Oid& id, uint64_t limit) {
  if (id == Oid{})
    return fail(Fault::not_found,
                "its content at the start is not known: it was too large, or there were too many");
  if (!objects_) return fail(Fault::lost, "the session baseline is lost");
  Result<ObjectPtr> got = objects_->read(id, limit);
  if (got && (*got)->whole() && (*got)->type != ObjectType::blob)
    return fail(Fault::corrupt, "object " + to_hex(id) + " is of an unexpected type");
  return got;
}

}  // namespace sandglass::git
