#include "plugin/registry.h"

#include <sandglass/plugin.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/log.h"
#include "base/program.h"
#include "base/text.h"
#include "plugin/abi.h"
#include "plugin/library.h"
#include "plugin/trust.h"

namespace sandglass::plugin {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> path_folders() {
  const char* text = std::getenv("SANDGLASS_PLUGIN_PATH");
  std::vector<std::string> out;
  for (std::string_view rest = text ? text : ""; !rest.empty();) {
    const size_t colon = std::min(rest.find(':'), rest.size());
    if (colon > 0) out.emplace_back(rest.substr(0, colon));
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return out;
}

// The plugins in a folder, by name, so that which of two comes first never depends on the disk.
Result<std::vector<std::string>> shared_objects(const std::string& folder) {
  std::error_code failed;
  std::vector<std::string> out;
  fs::directory_iterator entry(folder, failed);
  for (; !failed && entry != fs::directory_iterator(); entry.increment(failed))
    if (entry->path().extension() == ".so") out.push_back(entry->path().string());
  if (failed) return fail_errno(failed.value(), "cannot be listed");
  std::sort(out.begin(), out.end());
  return out;
}

// The table among those a file exports that this host can read.
Status choose_table(const Elf& elf) {
  if (elf.tables.empty())
    return fail(Fault::plugin,
                "exports no sg_plugin_v1: it is no sandglass plugin, or its table is "
                "hidden (declare it with SG_EXPORT, as plugin.h does)");
  for (const TableSymbol& table : elf.tables) {
    if (table.major != SG_ABI_MAJOR) continue;
    if (!table.is_data)
      return fail(Fault::plugin,
                  "exports sg_plugin_v1 as a function: it has to be a constant sg_plugin");
    if (table.size != 0 && table.size < kLeastPlugin)
      return fail(Fault::plugin, "exports an sg_plugin_v1 of " + std::to_string(table.size) +
                                     " bytes, an sg_plugin has " + std::to_string(kLeastPlugin));
    return {};
  }
  const unsigned theirs = elf.tables.back().major;
  return fail(Fault::plugin,
              "is built for plugin ABI " + std::to_string(theirs) + ", this host has " +
                  std::to_string(SG_ABI_MAJOR) +
                  (theirs > SG_ABI_MAJOR ? ": update sandglass, or take a build for ABI "
                                         : ": take a build for ABI ") +
                  std::to_string(SG_ABI_MAJOR));
}

Type make_type(const sg_type& abi, const Table& table, const std::string& file) {
  Type out;
  out.kind = abi.kind;
  out.name = abi.name;
  out.summary = abi.summary ? shown(abi.summary) : "";
  out.schema = abi.config_schema ? abi.config_schema : "";
  out.flags = abi.flags;
  out.file = file;
  out.plugin_id = table.id;
  out.plugin_version = table.version;
  return out;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

}  // namespace

Registry::Registry(std::vector<PluginFile> files) {
  for (const PluginFile& file : files) look(file);
  for (const std::string& folder : path_folders()) look_in(folder, true);
  if (const std::string folder = installed("lib/sandglass"); !folder.empty())
    look_in(folder, false);
}

Registry::~Registry() = default;

void Registry::look_in(const std::string& folder, bool must_exist) {
  const auto files = shared_objects(folder);
  if (files) {
    for (const std::string& file : *files) look({file, {}, {}});
  } else if (must_exist || fs::exists(fs::path(folder))) {
    Looked looked;
    looked.file = folder;
    looked.sentence =
        (must_exist ? "SANDGLASS_PLUGIN_PATH: " : "") + shown(folder) + ": " + files.error().text;
    looked_.push_back(std::move(looked));
  }
}

void Registry::look(const PluginFile& file) {
  Looked looked;
  looked.file = file.path;
  const Status loaded = load(file, looked);
  if (!loaded)
    looked.sentence = (file.where.empty() ? "" : file.where + ": ") + shown(file.path) + ": " +
                      loaded.error().text;
  if (loaded && looked.types.empty()) return;  // the same file once more
  looked.loaded = loaded.has_value();
  log::debug("plugin", looked.loaded ? "loaded " + shown(file.path) + ": " + looked.sentence
                                     : "refused " + looked.sentence);
  looked_.push_back(std::move(looked));
}

Status Registry::load(const PluginFile& file, Looked& looked) {
  auto opened = open_trusted(file.path);
  if (!opened) return tl::unexpected(opened.error());
  if (!file.sha256.empty())
    if (Status s = check_pin(opened->fd.get(), file.sha256); !s) return s;
  const std::pair<uint64_t, uint64_t> identity{opened->device, opened->inode};
  if (std::find(loaded_.begin(), loaded_.end(), identity) != loaded_.end()) return {};
  const auto elf = look_into(opened->fd.get());
  if (!elf) return tl::unexpected(elf.error());
  if (Status s = choose_table(*elf); !s) return s;
  const auto symbol = load_symbol(file.path, "sg_plugin_v1", *elf);
  if (!symbol) return tl::unexpected(symbol.error());
  const auto table = read_table(static_cast<const sg_plugin*>(*symbol));
  if (!table) return tl::unexpected(table.error());
  if (Status s = add(*table, file.path, looked); !s) return s;
  loaded_.push_back(identity);
  return {};
}

Status Registry::add(const Table& table, const std::string& file, Looked& looked) {
  std::vector<std::unique_ptr<Type>> fresh;
  for (const sg_type& abi : table.types) {
    auto type = std::make_unique<Type>(make_type(abi, table, file));
    const std::string what = short_kind(type->kind) + " " + type->name;
    for (const auto* known : {&types_, &fresh})
      for (const auto& other : *known)
        if (other->kind == type->kind && other->name == type->name)
          return fail(Fault::exists, "offers the " + what + ", which " + shown(other->file) +
                                         " offers too. Remove one of the two files");
    looked.types.push_back(what);
    type->table = std::make_shared<const sg_type>(abi);
    type->abi = type->table.get();
    fresh.push_back(std::move(type));
  }
  for (auto& type : fresh) types_.push_back(std::move(type));
  looked.plugin_id = table.id;
  looked.plugin_version = table.version;
  looked.sentence = "offers " + joined(looked.types);
  looked.unknown_kinds = table.unknown;
  if (!table.unknown.empty())
    looked.sentence += "; not used, as this host does not know the kind: " + joined(table.unknown);
  return {};
}

std::vector<const Type*> Registry::types() const {
  std::vector<const Type*> out;
  for (const auto& type : types_) out.push_back(type.get());
  return out;
}

Result<const Type*> Registry::find(std::string_view kind, std::string_view name) const {
  std::vector<std::string> there;
  for (const auto& type : types_) {
    if (type->kind != kind) continue;
    if (type->name == name) return type.get();
    there.push_back(type->name);
  }
  const std::string word = short_kind(kind);
  std::string text = "there is no " + word + " '" + shown(name) + "'";
  const std::vector<std::string_view> known(there.begin(), there.end());
  if (const std::string near = nearest(name, known.data(), known.size()); !near.empty())
    text += "; did you mean '" + near + "'?";
  text += there.empty() ? ". No " + word + " is loaded" : ". There is: " + joined(there);
  // A file named like it is likely to be the one; of others only the number is of interest.
  size_t others = 0;
  for (const Looked& looked : looked_) {
    if (looked.loaded) continue;
    if (fs::path(looked.file).filename().string().find(name) == std::string::npos)
      others++;
    else
      text += ". Not loaded: " + looked.sentence;
  }
  if (others > 0)
    text += ". Not loaded: " + std::to_string(others) +
            (others == 1 ? " other file" : " other files") + ", see `sandglass plugin list`";
  return fail(Fault::plugin, std::move(text));
}

}  // namespace sandglass::plugin
