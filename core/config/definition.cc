#include "config/definition.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "config/read.h"
#include "config/source.h"
#include "config/yaml.h"

namespace sandglass::config {

static constexpr std::string_view kSystemFile = "/etc/sandglass/sandglass.yaml";

static Use use_by_name(const std::string& name) {
  Use use;
  use.name = name;
  use.with = Value::make_map();
  return use;
}

// Only what makes one box differ from another: hooks and watching may change while it lives.
static std::string identity(const Definition& definition) {
  Value provider = Value::make_map();
  provider.set("use", Value::of(definition.provider.name));
  provider.set("with", definition.provider.with);
  Value workspace = Value::make_map();
  workspace.set("path", Value::of(definition.workspace));
  workspace.set("root", Value::of(definition.root));
  Value all = Value::make_map();
  all.set("id", Value::of(definition.id));
  all.set("provider", std::move(provider));
  all.set("workspace", std::move(workspace));
  return all.to_json();
}

Definition default_definition() {
  Definition definition;
  definition.provider = use_by_name("local");
  definition.baseline = BaselineAt::automatic;
  definition.file_events.watcher_with = Value::make_map();
  HookBinding log;
  log.use = use_by_name("log");
  log.name = "log";
  definition.hooks.push_back(std::move(log));
  definition.json = identity(definition);
  return definition;
}

std::vector<std::string> default_files() {
  std::vector<std::string> candidates;
  const char* config = std::getenv("XDG_CONFIG_HOME");
  const char* home = std::getenv("HOME");
  if (config && config[0] == '/')  // the specification ignores relative ones
    candidates.push_back(std::string(config) + "/sandglass/sandglass.yaml");
  else if (home && home[0] == '/')
    candidates.push_back(std::string(home) + "/.config/sandglass/sandglass.yaml");
  candidates.emplace_back(kSystemFile);
  std::vector<std::string> out;
  for (std::string& file : candidates)  // one that is there but cannot be read is load()'s to tell
    if (::access(file.c_str(), F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR))
      out.push_back(std::move(file));
  return out;
}

namespace {

constexpr std::pair<std::string_view, HookPoint> kPoints[] = {
    {"onFile", HookPoint::file},
    {"onFileCreate", HookPoint::file_create},
    {"onFileChange", HookPoint::file_change},
    {"onFileDelete", HookPoint::file_delete},
    {"onReady", HookPoint::ready},
    {"onError", HookPoint::error},
    {"onDestroy", HookPoint::destroy},
};

Use use_of(const Value& value) {
  Use use = use_by_name(value.kind == Kind::string ? value.string : value.find("use")->string);
  use.place = value.place;
  use.with.place = value.place;
  if (const Value* with = value.find("with")) use.with = *with;
  return use;
}

int64_t duration_of(const Value& value) {
  return parse_duration(value.string).value_or(0);
}

HookBinding binding_of(HookPoint point, const Value& value) {
  HookBinding binding;
  binding.point = point;
  binding.use = use_of(value);
  const Value* name = value.find("name");
  binding.name = name ? name->string : binding.use.name;
  if (const Value* timeout = value.find("timeout")) binding.timeout_ns = duration_of(*timeout);
  if (const Value* delivery = value.find("delivery"))
    binding.durable = delivery->string == "durable";
  return binding;
}

// Calls fn(point, binding, path below `path`) for each binding.
template <class F>
void each_binding(const Value& hooks, const std::string& path, F&& fn) {
  for (const auto& [name, point] : kPoints) {
    const Value* bound = hooks.find(name);
    if (!bound) continue;
    const std::string here = path_of(path, name);
    if (bound->kind != Kind::list) fn(point, *bound, here);
    for (size_t i = 0; bound->kind == Kind::list && i < bound->list.size(); i++)
      fn(point, bound->list[i], path_of(here, i));
  }
}

std::vector<HookBinding> hooks_of(const Value& value) {
  std::vector<HookBinding> out;
  each_binding(value, "", [&](HookPoint point, const Value& one, const std::string&) {
    out.push_back(binding_of(point, one));
  });
  return out;
}

Lifecycle lifecycle_of(const Value& value) {
  Lifecycle out;
  if (const Value* reuse = value.find("reuse"))
    out.reuse = reuse->string == "thread" ? Reuse::thread : Reuse::none;
  out.destroy_on_complete = out.reuse == Reuse::none;
  if (const Value* keep = value.find("keepAlive")) out.keep_alive_ns = duration_of(*keep);
  if (const Value* destroy = value.find("destroyOnComplete"))
    out.destroy_on_complete = destroy->boolean;
  if (const Value* at = value.find("snapshot"))
    out.snapshot = at->string == "after-setup" ? SnapshotAt::after_setup
                   : at->string == "after-run" ? SnapshotAt::after_run
                                               : SnapshotAt::none;
  if (const Value* age = value.find("snapshotMaxAge")) out.snapshot_max_age_ns = duration_of(*age);
  return out;
}

FileEvents file_events_of(const Value& value) {
  FileEvents out;
  out.watcher_with = Value::make_map();
  if (value.kind == Kind::boolean) out.enabled = value.boolean;
  if (const Value* watcher = value.find("watcher")) {
    Use use = use_of(*watcher);
    out.watcher = use.name;
    out.watcher_with = std::move(use.with);
  }
  if (const Value* interval = value.find("interval")) out.interval_ns = duration_of(*interval);
  if (const Value* diff = value.find("diff")) out.diff = diff->boolean;
  if (const Value* required = value.find("required")) out.required = required->boolean;
  if (const Value* ignore = value.find("ignore")) {
    out.ignore.clear();
    for (const Value& name : ignore->list) out.ignore.push_back(name.string);
  }
  return out;
}

}  // namespace

Result<Use> provider_of_identity(const std::string& json) {
  auto source = Source::of(json, "definition");  // JSON is YAML
  if (!source) return tl::unexpected(source.error());
  Parsed parsed = parse_yaml(*source);
  const Value* provider = parsed.root.find("provider");
  if (!parsed.problems.empty() || !provider || !provider->find("use"))
    return fail(Fault::corrupt, "it is no definition");
  return use_of(*provider);
}

Definition read_definition(const std::string& id, const Value& value) {
  Definition out = default_definition();
  out.hooks.clear();
  out.id = id;
  out.place = value.place;
  if (const Value* provider = value.find("provider")) out.provider = use_of(*provider);
  if (const Value* path = value.at_pointer("/workspace/path"))
    out.workspace = absolute_path(path->string, path->place);
  if (const Value* root = value.at_pointer("/workspace/root")) out.root = root->string;
  out.baseline = BaselineAt::head;
  if (const Value* baseline = value.at_pointer("/workspace/baseline"))
    if (baseline->string == "snapshot") out.baseline = BaselineAt::snapshot;
  if (const Value* lifecycle = value.find("lifecycle")) out.lifecycle = lifecycle_of(*lifecycle);
  if (const Value* events = value.find("fileEvents")) out.file_events = file_events_of(*events);
  if (const Value* redact = value.find("redact"))
    for (const Value& pattern : redact->list) out.redact.push_back(pattern.string);
  if (const Value* binary = value.find("binary")) out.binary_full = binary->string == "full";
  if (const Value* hooks = value.find("hooks")) out.hooks = hooks_of(*hooks);
  out.json = identity(out);
  return out;
}

// What no table of keys can say: how settings go together.
void check_definition(const std::string& id, const Value& value, std::vector<Problem>& problems) {
  const std::string path = path_of("sandboxes", id);
  std::map<std::string, Place> durable;
  auto check = [&](HookPoint, const Value& binding, const std::string& here) {
    const Value* delivery = binding.find("delivery");
    if (!delivery || delivery->string != "durable") return;
    const Value* name = binding.find("name");
    if (!name) {
      problems.push_back(problem_at(delivery->place, path_of(here, "delivery"),
                                    "\"durable\" needs a name of the hook's own, under which its "
                                    "place is kept; write name: NAME beside it"));
      return;
    }
    const auto [first, fresh] = durable.emplace(name->string, name->place);
    if (!fresh)
      problems.push_back(problem_at(
          name->place, path_of(here, "name"),
          "is the name of another durable hook, at " + first->second.text() + "; choose another"));
  };
  if (const Value* hooks = value.find("hooks")) each_binding(*hooks, path_of(path, "hooks"), check);
  const Value* reuse = value.at_pointer("/lifecycle/reuse");
  const bool reused = reuse && reuse->string == "thread";
  for (const char* key : {"keepAlive", "destroyOnComplete"}) {
    const Value* set = value.at_pointer(std::string("/lifecycle/") + key);
    const bool keeps = set && !(set->kind == Kind::boolean && set->boolean);
    if (keeps && !reused)
      problems.push_back(problem_at(set->place, path_of(path_of(path, "lifecycle"), key),
                                    "keeps a box that no later run would use; write reuse: thread "
                                    "beside it"));
  }
}

}  // namespace sandglass::config
