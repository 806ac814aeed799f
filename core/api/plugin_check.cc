#include <sandglass/plugin.h>

#include <algorithm>
#include <filesystem>

#include "api/scaffold.h"
#include "base/text.h"
#include "config/json_schema.h"
#include "plugin/abi.h"
#include "plugin/library.h"
#include "plugin/registry.h"
#include "plugin/trust.h"

namespace sandglass::api {
namespace {

// The table of a file the registry has looked at, which has mapped it where it can be mapped.
const sg_plugin* table_of(const std::string& file) {
  const auto opened = plugin::open_trusted(file);
  if (!opened) return nullptr;
  const auto elf = plugin::look_into(opened->fd.get());
  if (!elf) return nullptr;
  for (const plugin::TableSymbol& table : elf->tables) {
    if (table.major != SG_ABI_MAJOR || !table.is_data || table.size < plugin::kLeastPlugin)
      continue;
    const auto symbol = plugin::load_symbol(file, "sg_plugin_v1", *elf);
    return symbol ? static_cast<const sg_plugin*>(*symbol) : nullptr;
  }
  return nullptr;
}

// The registry stops at the first type that is wrong; here each is looked at by itself.
std::vector<std::string> wrong_types(const sg_plugin* raw) {
  std::vector<std::string> out;
  if (!raw || raw->struct_size < plugin::kLeastPlugin || !raw->types) return out;
  auto table = plugin::adopt<sg_plugin>(raw);
  for (size_t i = 0; i < 256 && raw->types[i]; i++) {
    const sg_type* const one[] = {raw->types[i], nullptr};
    table.types = one;
    if (const auto read = plugin::read_table(&table); !read) out.push_back(read.error().text);
  }
  return out;
}

void add_type(const plugin::Type& type, CheckedPlugin& out) {
  const std::string kind = plugin::short_kind(type.kind);
  const std::string what = kind + " '" + type.name + "'";
  out.types.push_back({kind, type.name, type.summary, !type.schema.empty()});
  if (!type.schema.empty())
    if (const std::string fault = config::schema_fault(type.schema); !fault.empty())
      out.problems.push_back("its " + what +
                             " has a config_schema that is no JSON Schema: " + fault);
  if (type.summary.empty()) out.notes.push_back("its " + what + " has no summary for people");
  if (type.schema.empty())
    out.notes.push_back("its " + what + " has no config_schema: whatever stands below `with:` " +
                        "is passed on unchecked");
}

}  // namespace

CheckedPlugin check_plugin(const std::string& file) {
  CheckedPlugin out;
  out.file = file;
  std::error_code ignored;
  // dlopen() searches for a name without a slash elsewhere.
  const std::string path = std::filesystem::absolute(file, ignored).string();
  const plugin::Registry registry({{path, {}, {}}});
  const plugin::Looked& looked = registry.looked().front();  // files come before folders
  const sg_plugin* table = table_of(path);
  if (table && table->struct_size >= plugin::kLeastPlugin)
    out.abi = std::to_string(table->abi_major) + "." + std::to_string(table->abi_minor);
  if (!looked.loaded) {
    out.problems = wrong_types(table);
    const std::string prefix = shown(path) + ": ";
    std::string first = looked.sentence;
    if (first.starts_with(prefix)) first.erase(0, prefix.size());
    if (std::find(out.problems.begin(), out.problems.end(), first) == out.problems.end())
      out.problems.insert(out.problems.begin(), first);
    return out;
  }
  out.id = looked.plugin_id;
  out.version = looked.plugin_version;
  for (const plugin::Type* type : registry.types())
    if (type->file == path) add_type(*type, out);
  for (const std::string& kind : looked.unknown_kinds)
    out.notes.push_back("not used, as this host does not know the kind: " + kind);
  for (const plugin::Looked& other : registry.looked())
    if (!other.loaded && other.sentence.find(shown(path) + " offers too") != std::string::npos)
      out.notes.push_back("where both are loaded one is refused: " + other.sentence);
  return out;
}

}  // namespace sandglass::api
