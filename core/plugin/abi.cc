#include "plugin/abi.h"

#include <array>
#include <cstddef>

#include "base/text.h"

namespace sandglass::plugin {
namespace {

constexpr uint32_t kMostBytes = 65536;  // of one struct: more is no size but garbage
constexpr size_t kMostTypes = 256;
constexpr size_t kMostText = 65536;

struct Slot {
  const char* name;
  size_t offset;
};
struct Kind {
  const char* id;
  std::array<Slot, 6> required;  // unused ones have no name
};

#define SLOT(type, field) \
  { #field, offsetof(type, field) }
constexpr std::array<Kind, 3> kKinds{{
    {SG_KIND_PROVIDER,
     {{SLOT(sg_provider, capabilities), SLOT(sg_provider, create), SLOT(sg_provider, destroy),
       SLOT(sg_provider, exec), SLOT(sg_provider, list), SLOT(sg_provider, wait_gone)}}},
    {SG_KIND_WATCHER, {{SLOT(sg_watcher, run), SLOT(sg_watcher, probe), SLOT(sg_watcher, flush)}}},
    {SG_KIND_HOOK, {{SLOT(sg_hook, interests), SLOT(sg_hook, on_event)}}},
}};
#undef SLOT

// The frozen sizes of ABI 1.0; a later minor of this host must not raise what it asks of plugins.
static_assert(offsetof(sg_plugin, types) + sizeof(void*) == kLeastPlugin);
static_assert(offsetof(sg_type, diagnose) + sizeof(void*) == kLeastType);

const Kind* find_kind(std::string_view id) {
  for (const Kind& kind : kKinds)
    if (id == kind.id) return &kind;
  return nullptr;
}

uint32_t size_of(const void* table) {
  uint32_t size = 0;
  std::memcpy(&size, table, sizeof size);
  return size;
}

tl::unexpected<Error> refuse(std::string text) {
  return fail(Fault::plugin, std::move(text));
}

// A text of the plugin, for people.
std::string quoted(const char* text) {
  return "'" + shown(std::string_view(text, ::strnlen(text, 200))) + "'";
}

Status check_size(const void* table, uint32_t least, const std::string& what) {
  const uint32_t size = size_of(table);
  if (size >= least && size <= kMostBytes) return {};
  return refuse(what + " says it has " + std::to_string(size) +
                " bytes (struct_size), a valid one has " + std::to_string(least) +
                " or more: set struct_size to sizeof that struct");
}

Status check_versions(const sg_plugin& table) {
  if (table.abi_major != SG_ABI_MAJOR)
    return refuse("its table says plugin ABI " + std::to_string(table.abi_major) +
                  ", this host has " + std::to_string(SG_ABI_MAJOR) +
                  ": set abi_major to SG_ABI_MAJOR and build it again");
  if (table.abi_minor_needed > SG_ABI_MINOR)
    return refuse("needs plugin ABI 1." + std::to_string(table.abi_minor_needed) +
                  ", this host has 1." + std::to_string(SG_ABI_MINOR) +
                  ": use a newer sandglass, or a build of the plugin that needs no more");
  if (!table.id || !*table.id)
    return refuse("its table has no id: set one like \"com.example.audit\"");
  if (!table.types) return refuse("its table has no list of types");
  return {};
}

bool is_name(const char* text) {
  const std::string_view name(text, ::strnlen(text, 65));
  return !name.empty() && name.size() <= 64 &&
         name.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == name.npos;
}

Status check_methods(const sg_type& type, const Kind& kind, const std::string& what) {
  if (!type.methods) return refuse(what + " has no methods");
  if (Status s = check_size(type.methods, 8, "the methods of " + what); !s) return s;
  for (const Slot& slot : kind.required) {
    if (!slot.name) break;
    void* function = nullptr;
    if (size_of(type.methods) >= slot.offset + sizeof function)
      std::memcpy(&function, static_cast<const char*>(type.methods) + slot.offset, sizeof function);
    if (!function)
      return refuse(what + " has no " + slot.name + "(), which every " + short_kind(kind.id) +
                    " needs");
  }
  return {};
}

// `what` is "its type 2" until the name is known.
Status check_type(const sg_type& type, std::string what) {
  if (!type.kind || !*type.kind) return refuse(what + " has no kind: set SG_KIND_HOOK or another");
  if (!type.name) return refuse(what + " has no name");
  if (!is_name(type.name))
    return refuse(what + " is named " + quoted(type.name) +
                  ": a name has up to 64 letters, digits, '.', '_' and '-'");
  const Kind* kind = find_kind(type.kind);
  what = "its " + short_kind(type.kind) + " " + quoted(type.name);
  if (!type.create) return refuse(what + " has no create()");
  if (!type.destroy) return refuse(what + " has no destroy()");
  if (type.config_schema && ::strnlen(type.config_schema, kMostText) == kMostText)
    return refuse(what + " has a config_schema of over " + std::to_string(kMostText) + " bytes");
  return kind ? check_methods(type, *kind, what) : Status{};
}

}  // namespace

std::string short_kind(std::string_view kind) {
  constexpr std::string_view kFamily = "sandglass.";
  if (!find_kind(kind)) return shown(kind.substr(0, 200));
  kind.remove_prefix(kFamily.size());
  return std::string(kind.substr(0, kind.find('/')));
}

Result<Table> read_table(const sg_plugin* raw) {
  if (Status s = check_size(raw, kLeastPlugin, "its table sg_plugin_v1"); !s)
    return tl::unexpected(s.error());
  const auto table = adopt<sg_plugin>(raw);
  if (Status s = check_versions(table); !s) return tl::unexpected(s.error());
  Table out{shown(std::string_view(table.id, ::strnlen(table.id, 200))), {}, {}, {}};
  if (table.version)
    out.version = shown(std::string_view(table.version, ::strnlen(table.version, 200)));
  for (size_t i = 0; table.types[i]; i++) {
    const std::string what = "its type " + std::to_string(i + 1);
    if (i == kMostTypes)
      return refuse("its list of types has no end: put a null pointer after the last");
    if (Status s = check_size(table.types[i], kLeastType, what); !s)
      return tl::unexpected(s.error());
    const auto type = adopt<sg_type>(table.types[i]);
    if (Status s = check_type(type, what); !s) return tl::unexpected(s.error());
    if (find_kind(type.kind))
      out.types.push_back(type);
    else
      out.unknown.push_back(short_kind(type.kind));
  }
  if (out.types.empty())
    return refuse(out.unknown.empty()
                      ? "offers no type: its list is empty"
                      : "offers only kinds that this host does not know: " + out.unknown.front());
  return out;
}

}  // namespace sandglass::plugin
