// Reading a file and all it includes.
#include <algorithm>
#include <filesystem>
#include <set>

#include "base/text.h"
#include "config/definition.h"
#include "config/expand.h"
#include "config/read.h"
#include "config/schema.h"
#include "config/source.h"
#include "config/yaml.h"

namespace sandglass::config {

static constexpr size_t kMaxIncludeDepth = 8;
static constexpr size_t kMaxFiles = 100;
static constexpr size_t kMaxProblems = 100;

static std::string directory_of(const std::string& file) {
  const size_t slash = file.rfind('/');
  return slash == std::string::npos ? "" : file.substr(0, slash + 1);
}

static std::string without_dots(const std::string& path) {
  std::string out;
  for (size_t at = 0; at < path.size();) {
    const size_t end = std::min(path.find('/', at), path.size());
    const std::string part = path.substr(at, end - at);
    if (!part.empty() && part != ".") out += "/" + part;
    at = end + 1;
  }
  return out.empty() ? "/" : out;
}

std::string absolute_path(const std::string& path, const Place& place) {
  std::string out = path;
  if (out[0] != '/') out = directory_of(place.file ? *place.file : "") + out;
  if (out[0] != '/') {
    std::error_code error;  // a working directory that is gone leaves the path relative to "/"
    out = std::filesystem::current_path(error).string() + "/" + out;
  }
  return without_dots(out);
}

namespace {

class Loader {
 public:
  explicit Loader(Environment environment) : environment_(environment) {}

  void file(const std::string& name) {
    auto text = read_config_file(name);
    if (!text)
      out_.problems.push_back({text.error().text, {}});
    else
      read(text->bytes, name, text->id);
  }

  void read(std::string_view bytes, const std::string& name, FileId id) {
    chain_.push_back({id, name});
    files_.push_back(id);
    one(bytes, name);
    chain_.pop_back();
  }

  Loaded take() {
    auto& problems = out_.problems;
    if (problems.size() > kMaxProblems) {
      const size_t more = problems.size() - kMaxProblems;
      problems.resize(kMaxProblems);
      problems.push_back({"and " + std::to_string(more) + " more mistakes", {}});
    }
    finish_debug();
    return std::move(out_);
  }

 private:
  struct Link {
    FileId id;
    std::string name;
  };

  void one(std::string_view bytes, const std::string& name) {
    auto source = Source::of(bytes, name);
    if (!source) {
      out_.problems.push_back({source.error().text, {}});
      return;
    }
    Parsed parsed = parse_yaml(*source);
    std::vector<Problem> mine = std::move(parsed.problems);
    if (parsed.complete) {
      expand(parsed.root, environment_, mine);
      add_unless_told(check(parsed.root, configuration_rule()), mine);
    }
    put_in_order(mine);
    const bool sound = mine.empty();
    out_.problems.insert(out_.problems.end(), mine.begin(), mine.end());
    if (!parsed.complete) return;
    includes(parsed.root);
    if (const Value* sandboxes = parsed.root.find("sandboxes")) claim_ids(*sandboxes);
    if (sound) check_definitions(parsed.root);
    if (sound) take_all(parsed.root);
  }

  // A value that could not be read is not told again for what it then looks like.
  static void add_unless_told(std::vector<Problem> found, std::vector<Problem>& problems) {
    std::set<std::pair<int, int>> told;
    for (const Problem& problem : problems) told.emplace(problem.place.line, problem.place.column);
    for (Problem& problem : found)
      if (!told.count({problem.place.line, problem.place.column}))
        problems.push_back(std::move(problem));
  }

  void includes(const Value& root) {
    const Value* list = root.find("include");
    if (!list) return;
    for (size_t i = 0; i < list->list.size(); i++) {
      const Value& item = list->list[i];
      if (item.kind == Kind::string && !item.string.empty()) include(item, path_of("include", i));
    }
  }

  void include(const Value& item, const std::string& path) {
    std::string name = item.string;
    if (name[0] != '/') name = directory_of(*item.place.file) + name;
    auto say = [&](const std::string& what) {
      out_.problems.push_back(problem_at(item.place, path, what));
    };
    auto text = read_config_file(name);
    if (!text) return say(text.error().text);
    auto same = [&](const Link& link) { return link.id == text->id; };
    auto begin = std::find_if(chain_.begin(), chain_.end(), same);
    if (begin != chain_.end()) return say("includes go in a circle: " + chain_from(begin, name));
    if (std::find(files_.begin(), files_.end(), text->id) != files_.end()) return;  // read already
    if (chain_.size() > kMaxIncludeDepth)
      return say("files include each other deeper than 8 levels: " +
                 chain_from(chain_.begin(), name));
    if (files_.size() >= kMaxFiles) return say("more than 100 files are included; use fewer");
    read(text->bytes, name, text->id);
  }

  std::string chain_from(std::vector<Link>::const_iterator begin, const std::string& last) const {
    std::string out;
    for (; begin != chain_.end(); ++begin) out += shown(begin->name) + " -> ";
    return out + shown(last);
  }

  // An id twice in one file is a duplicate key and was told as one.
  void claim_ids(const Value& sandboxes) {
    for (const auto& [key, value] : sandboxes.map) {
      auto [first, fresh] = ids_.emplace(key.string, key.place);
      if (!fresh)
        out_.problems.push_back(problem_at(
            key.place, path_of("sandboxes", key.string),
            "is defined twice, first at " + first->second.text() + "; rename or remove one"));
    }
  }

  void check_definitions(const Value& root) {
    const Value* sandboxes = root.find("sandboxes");
    if (!sandboxes) return;
    for (const auto& [key, value] : sandboxes->map)
      check_definition(key.string, value, out_.problems);
  }

  void take_all(const Value& root) {
    Configuration& to = out_.configuration;
    if (const Value* plugins = root.find("plugins"))
      for (size_t i = 0; i < plugins->list.size(); i++)
        take_plugin(plugins->list[i], path_of("plugins", i));
    if (const Value* sandboxes = root.find("sandboxes"))
      for (const auto& [key, value] : sandboxes->map)
        to.sandboxes.emplace(key.string, read_definition(key.string, value));
    if (const Value* retention = root.find("retention")) take_retention(*retention);
    if (const Value* debug = root.find("debug")) take_debug(*debug);
  }

  void take_retention(const Value& value) {
    Retention& to = out_.configuration.retention;
    if (const Value* age = value.find("age")) to.age_ns = parse_duration(age->string).value_or(0);
    if (const Value* size = value.find("size"))
      to.bytes = static_cast<uint64_t>(parse_size(size->string).value_or(0));
  }

  void take_plugin(const Value& value, const std::string& path) {
    PluginFile plugin;
    const Value* file = value.find("file");
    plugin.path = absolute_path(file->string, file->place);
    plugin.place = file->place;
    if (const Value* pin = value.find("sha256")) plugin.sha256 = pin->string;
    for (char& c : plugin.sha256)
      if (c >= 'A' && c <= 'F') c = static_cast<char>(c + 32);
    for (const PluginFile& other : out_.configuration.plugins)
      if (other.path == plugin.path)
        out_.problems.push_back(problem_at(
            file->place, path, "is listed twice, first at " + other.place.text() + "; remove one"));
    out_.configuration.plugins.push_back(std::move(plugin));
  }

  // Later words win: those of a file come after those of what it includes.
  void take_debug(const Value& value) {
    for (auto& [category, on] : debug_) {
      if (value.kind == Kind::boolean) on = value.boolean;
      if (const Value* one = value.find(category)) on = one->boolean;
    }
  }

  void finish_debug() {
    size_t on_count = 0;
    for (const auto& [category, on] : debug_) {
      if (!on) continue;
      on_count++;
      out_.configuration.debug.emplace_back(category);
    }
    if (on_count == debug_.size()) out_.configuration.debug = {"all"};
  }

  Environment environment_;
  Loaded out_;
  std::vector<Link> chain_;    // from the first file to the one being read
  std::vector<FileId> files_;  // all that were read
  std::map<std::string, Place> ids_;
  std::map<std::string_view, bool> debug_{{"sandbox", false}, {"watch", false}, {"plugin", false}};
};

}  // namespace

Loaded load(const std::string& file, Environment environment) {
  Loader loader(environment);
  loader.file(file);
  return loader.take();
}

Loaded load_text(std::string_view yaml, const std::string& name, Environment environment) {
  Loader loader(environment);
  if (yaml.size() <= kMaxFileBytes) {
    loader.read(yaml, name, {});
    return loader.take();
  }
  Loaded out;
  out.problems.push_back({shown(name) + ": is larger than 1 MiB; a configuration is not", {}});
  return out;
}

}  // namespace sandglass::config
