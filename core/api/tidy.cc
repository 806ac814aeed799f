#include "api/definition.h"
#include "base/text.h"

namespace sandglass::api {
namespace {

// Checks that nobody waits for what is to go.
Status may_purge(const sandbox::Store& store, const std::string& id, bool force) {
  auto journal = summarize_journal(store.journal_file(id));
  if (!journal || force) return {};
  for (const auto& [hook, count] : journal->owed)
    return fail(Fault::denied, "the durable hook " + shown(hook) + " has not had " +
                                   std::to_string(count) +
                                   " of its events; a run of the sandbox delivers them, --force "
                                   "drops them");
  return {};
}

class Remover {
 public:
  Remover(const RemoveRequest& request, const sandbox::Store& store,
          const plugin::Registry& registry)
      : request_(request), store_(store), registry_(registry) {}

  sandbox::Tidied remove(const std::string& wanted) {
    sandbox::Tidied out{wanted, request_.purge ? "removed" : "destroyed", "as you asked", {}};
    if (Status done = remove(wanted, out); !done) out.error = done.error().text;
    return out;
  }

 private:
  Status remove(const std::string& wanted, sandbox::Tidied& out) {
    auto record = store_.find(wanted);
    if (!record) return tl::unexpected(record.error());
    out.id = record->id;
    auto held = store_.hold(record->id);
    if (!held) return tl::unexpected(held.error());
    auto journal = summarize_journal(store_.journal_file(record->id));
    if (!journal) return tl::unexpected(journal.error());
    const bool over = journal->state == sandbox::name_of(sandbox::State::destroyed);
    if (over && !request_.purge) {
      store_.let_go(std::move(*held), journal->owed.empty());
      return fail(Fault::exists, "it is destroyed already; --purge removes its journal too");
    }
    if (request_.purge)
      if (Status may = may_purge(store_, record->id, request_.force); !may) {
        store_.let_go(std::move(*held), false);
        return may;
      }
    if (request_.tidy.dry_run) return store_.let_go(std::move(*held), false), Status{};
    if (!over) {
      Status done =
          sandbox::Sandbox::reap(registry_, store_, std::move(*held), *record, "removed by hand");
      if (!done || !request_.purge) return done;
      held = store_.hold(record->id);
      if (!held) return tl::unexpected(held.error());
    }
    return store_.remove(std::move(*held));
  }

  const RemoveRequest& request_;
  const sandbox::Store& store_;
  const plugin::Registry& registry_;
};

}  // namespace

Result<std::vector<sandbox::Tidied>> gc(const TidyRequest& request) {
  auto store = sandbox::Store::open(request.state_dir);
  if (!store) return tl::unexpected(store.error());
  auto configuration = load_configuration(request.config);
  if (!configuration) return tl::unexpected(configuration.error());
  const plugin::Registry registry(plugin_files(*configuration));
  auto out = request.dry_run ? sandbox::would_reap(registry, *store)
                             : sandbox::reap_leftovers(registry, *store, sandbox::Foreign::tell);
  const auto removed = sandbox::apply_retention(*store, configuration->retention, request.dry_run);
  out.insert(out.end(), removed.begin(), removed.end());
  return out;
}

Result<std::vector<sandbox::Tidied>> remove(const RemoveRequest& request) {
  auto store = sandbox::Store::open(request.tidy.state_dir);
  if (!store) return tl::unexpected(store.error());
  auto configuration = load_configuration(request.tidy.config);
  if (!configuration) return tl::unexpected(configuration.error());
  const plugin::Registry registry(plugin_files(*configuration));
  Remover remover(request, *store, registry);
  std::vector<sandbox::Tidied> out;
  for (const std::string& one : request.sandboxes) out.push_back(remover.remove(one));
  return out;
}

}  // namespace sandglass::api
