// The first ready: find the baseline, look at the files, keep the objects.
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "git/copy.h"
#include "git/links.h"
#include "git/pin.h"
#include "git/place.h"
#include "git/ready.h"
#include "git/repositories.h"

namespace sandglass::git {

namespace {

constexpr int64_t kMs = 1'000'000;
constexpr uint64_t kMb = 1'000'000;
constexpr uint64_t kMostIndex = 256u << 20;
constexpr int64_t kLinkNs = 3'000 * kMs;
constexpr size_t kMostNested = 256;

// With the commit as the baseline the files at ready only tell the summary what was there before;
// as the baseline itself they are worth waiting for.
ReadyLimits limits_of(bool snapshot, const std::string& folder) {
  const uint64_t room = room_for(folder);
  return {mono_ns() + (snapshot ? 5'000 : 400) * kMs,
          std::min(room, (snapshot ? 1'000 : 200) * kMb), (snapshot ? 100 : 20) * kMb};
}

IndexFile read_index(const std::optional<Place>& place) {
  if (!place) return {};
  struct stat st;
  if (!place->git.stat_below("index", st)) return {};
  const Result<FileBytes> file = place->git.read("index", kMostIndex);
  if (!file || !S_ISREG(file->mode)) return {};
  auto index =
      IndexFile::parse(file->bytes, static_cast<uint64_t>(st.st_mtim.tv_sec) * 1'000'000'000 +
                                        static_cast<uint64_t>(st.st_mtim.tv_nsec));
  if (index) return std::move(*index);
  log::debug("sandbox", "the index is not used: " + index.error().text);
  return {};
}

std::string count_of(uint64_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

}  // namespace

class Pin::Maker {
 public:
  Maker(Pin& pin, const std::string& workspace, const PinOptions& options)
      : pin_(pin), baseline_(pin.baseline_), options_(options), redaction_(options.redact) {
    char real[PATH_MAX];
    workspace_ = ::realpath(workspace.c_str(), real) ? real : workspace;
  }

  void make() {
    baseline_ = pin_baseline(workspace_);
    baseline_.snapshot =
        options_.compare == Compare::snapshot ||
        (options_.compare == Compare::automatic && baseline_.kind == BaselineKind::none);
    if (options_.folder.empty()) return;
    if (baseline_.kind != BaselineKind::commit && baseline_.kind != BaselineKind::no_commit &&
        !baseline_.snapshot)
      return;
    if (!make_folders()) return;
    if (baseline_.kind == BaselineKind::commit)
      add_source(baseline_.objects, baseline_.alternates, baseline_.commit, baseline_.prefix);
    look_at_files();
    keep_objects();
  }

 private:
  bool make_folders() {
    std::error_code code;
    std::filesystem::remove_all(options_.folder, code);  // of a ready that did not come to its end
    std::filesystem::create_directories(options_.folder + "/objects/pack", code);
    char real[PATH_MAX];
    if (code || !::realpath(options_.folder.c_str(), real)) {
      note("it is not kept: " + shown(options_.folder) + " cannot be made: " + code.message());
      return false;
    }
    baseline_.pin = real;
    return true;
  }

  void note(const std::string& text) {
    baseline_.note += (baseline_.note.empty() ? "" : "; ") + text;
  }

  Snapshot* add_source(const std::string& objects, const std::vector<std::string>& alternates,
                       const std::string& commit, const std::string& prefix) {
    std::vector<std::string> own{objects};
    own.insert(own.end(), alternates.begin(), alternates.end());
    const auto id = parse_oid(commit);
    auto opened = Objects::open(own, {baseline_.pin + "/links"});
    if (!id || !opened) return nullptr;
    directories_.insert(directories_.end(), own.begin(), own.end());
    pin_.sources_.push_back(
        {std::make_unique<Snapshot>(std::shared_ptr<Objects>(std::move(*opened)), *id), prefix});
    return pin_.sources_.back().snapshot.get();
  }

  // The workspace's own repository, then those that were found below it.
  void look_at_files() {
    const Result<Root> workspace = Root::open(workspace_);
    const auto tracked = Repositories::open(commits());
    if (!workspace || !tracked) return;
    IgnoreRules rules(baseline_, (*tracked)->any() ? tracked->get() : nullptr, *workspace);
    ReadyStore store(baseline_.pin + "/objects/pack", limits_of(baseline_.snapshot, baseline_.pin));
    ReadyOptions options{options_.skip, &redaction_, {}};
    options.nested = [&](const std::string& path, const std::optional<Oid>& recorded) {
      return add_nested(path, recorded);
    };
    ReadyTree where;
    where.workspace = &*workspace;
    where.prefix = baseline_.prefix;
    where.rules = baseline_.kind == BaselineKind::none ? nullptr : &rules;
    if (!pin_.sources_.empty()) where.head = pin_.sources_.front().snapshot.get();
    const IndexFile index = read_index(find_repository(workspace_).place);
    where.index = &index;
    if (where.head || baseline_.kind != BaselineKind::commit)
      baseline_.tree = look(where, options, store);
    for (size_t i = 0; i < baseline_.nested.size(); i++) look_at_nested(i, where, options, store);
    if (Status done = store.finish(); !done) {
      note("what was changed before is not known: " + done.error().text);
      forget_trees();
    }
    say_what_is_unknown();
  }

  Baseline commits() const {
    Baseline out = baseline_;
    out.snapshot = false;
    out.pin.clear();
    return out;
  }

  std::string look(const ReadyTree& where, const ReadyOptions& options, ReadyStore& store) {
    const ReadyFound found = look_at_ready(where, options, store);
    unknown_ += found.unknown;
    unseen_ += found.unseen;
    if (found.tree) return to_hex(*found.tree);
    const auto nothing = store.add(ObjectType::tree, "");
    return nothing ? to_hex(*nothing) : "";
  }

  bool add_nested(const std::string& path, const std::optional<Oid>& recorded) {
    if (baseline_.nested.size() >= kMostNested) return false;
    auto found = nested_at(workspace_, path);
    if (!found) return false;
    if (recorded) found->commit = to_hex(*recorded);
    baseline_.nested.push_back(std::move(*found));
    return true;
  }

  void look_at_nested(size_t at, ReadyTree where, const ReadyOptions& options, ReadyStore& store) {
    const Nested one = baseline_.nested[at];  // more may be found meanwhile
    where.path = one.path;
    where.prefix.clear();
    where.head = add_source(one.objects, one.alternates, one.commit, "");
    const IndexFile index = read_index(repository_at(workspace_ + "/" + one.path).place);
    where.index = &index;
    if (where.head || one.commit.empty()) baseline_.nested[at].tree = look(where, options, store);
  }

  void forget_trees() {
    baseline_.tree.clear();
    for (Nested& one : baseline_.nested) one.tree.clear();
  }

  void say_what_is_unknown() {
    if (unseen_ > 0)
      note(count_of(unseen_, "directory", "directories") +
           " could not be looked at when the run began; files there are taken as committed");
    if (unknown_ > 0)
      note(count_of(unknown_, "file was", "files were") +
           " not read when the run began: too large or too many");
  }

  void keep_objects() {
    std::vector<LinkSource> needed;
    for (const Source& one : pin_.sources_) needed.push_back({one.snapshot.get(), one.prefix});
    PinState state{PinWord::copied, {}};  // what is in objects/ already
    if (!needed.empty()) {
      const Linking linking =
          link_objects(directories_, needed, baseline_.pin + "/links", mono_ns() + kLinkNs);
      state.word = linking == Linking::all ? PinWord::linked : PinWord::held;
    }
    write_pin_state(baseline_.pin, state);
  }

  Pin& pin_;
  Baseline& baseline_;
  const PinOptions& options_;
  const Redaction redaction_;
  std::string workspace_;
  std::vector<std::string> directories_;
  uint64_t unknown_ = 0, unseen_ = 0;
};

std::unique_ptr<Pin> Pin::make(const std::string& workspace, const PinOptions& options) {
  std::unique_ptr<Pin> out(new Pin(Baseline{}));
  Maker(*out, workspace, options).make();
  return out;
}

}  // namespace sandglass::git
