#include "sandbox/leftovers.h"

#include <fcntl.h>
#include <sandglass/plugin.h>
#include <sys/stat.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "base/clock.h"
#include "base/log.h"
#include "event/journal.h"
#include "sandbox/sandbox.h"

namespace sandglass::sandbox {
namespace {

constexpr int64_t kDay = 86'400'000'000'000;

// Why the box has to go, or "".
std::string why_over(const InstanceRecord& record, const JournalSummary& journal) {
  if (journal.state == name_of(State::destroyed)) return {};
  if (record.keep_alive_ns == 0 || !can_go_on(record, journal))
    return "left by a process that ended";
  if (journal.last_ns + record.keep_alive_ns < wall_ns()) return "its time was over";
  return {};
}

class Reaper {
 public:
  Reaper(const plugin::Registry& registry, const Store& store, Foreign foreign, bool dry_run)
      : registry_(registry), store_(store), foreign_(foreign), dry_run_(dry_run) {}

  std::vector<Tidied> all() {
    for (const std::string& id : store_.open_ids())
      if (!store_.owned(id)) one(id);
    return std::move(out_);
  }

 private:
  // One id of open/ that no process holds.
  void one(const std::string& id) {
    auto held = store_.hold(id);
    if (!held) return;  // somebody was quicker
    auto record = store_.record(id);
    if (!record && record.error().fault == Fault::not_found) {
      // It ended before it wrote one down: there is no box.
      if (!dry_run_) (void)store_.remove(std::move(*held));
      return;
    }
    if (!record) return tell(id, "left by a process that ended", record.error().text);
    auto journal = summarize_journal(store_.journal_file(id));
    if (!journal) return tell(id, "left by a process that ended", journal.error().text);
    const std::string why = why_over(*record, *journal);
    if (why.empty()) {
      const bool over = journal->state == name_of(State::destroyed) && journal->owed.empty();
      return store_.let_go(std::move(*held), over && !dry_run_);
    }
    if (foreign_ == Foreign::leave && !registry_.find(SG_KIND_PROVIDER, record->provider)) return;
    if (dry_run_) return tell(id, why, "");
    const Status done = Sandbox::reap(registry_, store_, std::move(*held), *record, why);
    tell(id, why, done ? "" : done.error().text);
  }

  void tell(const std::string& id, const std::string& why, const std::string& error) {
    out_.push_back({id, "destroyed", why, error});
  }

  const plugin::Registry& registry_;
  const Store& store_;
  const Foreign foreign_;
  const bool dry_run_;
  std::vector<Tidied> out_;
};

struct Kept {
  std::string id;
  int64_t first_ns = 0, last_ns = 0;
  uint64_t bytes = 0;
  bool open = false;
};

std::vector<Kept> all_kept(const Store& store) {
  const auto open = store.open_ids();
  std::vector<Kept> out;
  for (const InstanceRecord& record : store.list()) {
    auto journal = summarize_journal(store.journal_file(record.id));
    if (!journal) {
      log::error("the journal of sandbox " + record.id +
                 " cannot be read and is left alone: " + journal.error().text);
      continue;
    }
    out.push_back({record.id, journal->first_ns, journal->last_ns, store.size_of(record.id),
                   std::binary_search(open.begin(), open.end(), record.id)});
  }
  std::sort(out.begin(), out.end(),
            [](const Kept& a, const Kept& b) { return a.last_ns < b.last_ns; });
  return out;
}

class Retainer {
 public:
  Retainer(const Store& store, bool dry_run) : store_(store), dry_run_(dry_run) {}

  void remove(const Kept& one, const std::string& why) {
    Tidied done{one.id, "removed", why, {}};
    if (!dry_run_) {
      auto held = store_.hold(one.id);
      Status gone = held ? store_.remove(std::move(*held)) : tl::unexpected(held.error());
      if (!gone) done.error = gone.error().text;
    }
    out.push_back(std::move(done));
  }

  // Only where nobody writes on it.
  void shorten(const Kept& one, int64_t before_ns, uint64_t most_bytes) {
    if (dry_run_ || store_.owned(one.id)) return;
    auto held = store_.hold(one.id);
    if (!held) return;
    auto taken = prune_journal(store_.journal_file(one.id), before_ns, most_bytes);
    store_.let_go(std::move(*held), !one.open);
    if (taken && *taken == 0) return;
    out.push_back({one.id, "shortened",
                   taken ? std::to_string(*taken) + " old events" : "old events",
                   taken ? "" : taken.error().text});
  }

  std::vector<Tidied> out;

 private:
  const Store& store_;
  const bool dry_run_;
};

}  // namespace

std::vector<Tidied> reap_leftovers(const plugin::Registry& registry, const Store& store,
                                   Foreign foreign) {
  return Reaper(registry, store, foreign, false).all();
}

std::vector<Tidied> would_reap(const plugin::Registry& registry, const Store& store) {
  return Reaper(registry, store, Foreign::tell, true).all();
}

std::vector<Tidied> apply_retention(const Store& store, const config::Retention& retention,
                                    bool dry_run) {
  Retainer retainer(store, dry_run);
  const int64_t before = wall_ns() - retention.age_ns;
  std::vector<Kept> all = all_kept(store);
  auto too_old = [&](const Kept& one) { return !one.open && one.last_ns < before; };
  for (const Kept& one : all)
    if (too_old(one)) retainer.remove(one, "it ended longer ago than journals are kept");
  std::erase_if(all, too_old);

  uint64_t bytes = std::accumulate(all.begin(), all.end(), uint64_t{0},
                                   [](uint64_t sum, const Kept& one) { return sum + one.bytes; });
  std::set<std::string> removed;
  for (const Kept& one : all) {
    if (bytes <= retention.bytes) break;
    if (one.open) continue;
    retainer.remove(one, "journals take more room than they may");
    removed.insert(one.id);
    bytes -= one.bytes;
  }
  for (const Kept& one : all) {
    if (removed.count(one.id)) continue;
    const uint64_t over = bytes > retention.bytes ? bytes - retention.bytes : 0;
    if (one.first_ns >= before && over == 0) continue;
    retainer.shorten(one, before, one.bytes - std::min(one.bytes, over));
    const uint64_t now = dry_run ? one.bytes : store.size_of(one.id);
    bytes -= std::min(bytes, one.bytes - std::min(one.bytes, now));
  }
  return std::move(retainer.out);
}

void apply_retention_daily(const Store& store, const config::Retention& retention) {
  const std::string stamp = store.directory() + "/retained";
  struct stat st;
  if (::stat(stamp.c_str(), &st) == 0 && int64_t{st.st_mtime} * 1'000'000'000 + kDay > wall_ns())
    return;
  const Fd touched(::open(stamp.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (touched) ::futimens(touched.get(), nullptr);
  for (const Tidied& one : apply_retention(store, retention, false)) {
    const std::string text =
        "the journal of sandbox " + one.id + " was " + one.what + ": " + one.why;
    if (one.error.empty())
      log::debug("sandbox", text);
    else
      log::error(text + " - that failed: " + one.error);
  }
}

}  // namespace sandglass::sandbox
