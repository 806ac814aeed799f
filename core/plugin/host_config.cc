// The getters of a plugin's configuration.
#include <cmath>

#include "base/text.h"
#include "plugin/call_state.h"
#include "plugin/host.h"

namespace sandglass::plugin {
namespace {

using config::Kind;
using config::Value;

std::string_view word_of(Kind kind) {
  switch (kind) {
    case Kind::null:
      return "nothing";
    case Kind::boolean:
      return "true or false";
    case Kind::integer:
      return "an integer";
    case Kind::number:
      return "a number";
    case Kind::string:
      return "text";
    case Kind::list:
      return "a list";
    case Kind::map:
      return "a map";
  }
  return "nothing";
}

const Value* at(const sg_config* config, const char* pointer) {
  return config->value.at_pointer(pointer ? pointer : "");
}

// Null where the key is missing or null: the fallback is meant.
const Value* set_at(const sg_config* config, const char* pointer) {
  const Value* value = at(config, pointer);
  return value && value->kind != Kind::null ? value : nullptr;
}

void complain(const sg_host* host, const Value& value, const char* pointer, std::string_view text) {
  const std::string place = value.place.text();
  std::string key = pointer && *pointer == '/' ? pointer + 1 : "";
  for (char& c : key) c = c == '/' ? '.' : c;
  Host::of(host).complain((place.empty() ? "" : place + ": ") + shown(key) + ": " +
                          std::string(text));
}

void wrong_kind(const sg_host* host, const Value& value, const char* pointer,
                std::string_view wanted) {
  complain(host, value, pointer,
           "must be " + std::string(wanted) + ", is " + std::string(word_of(value.kind)));
}

sg_str json(const sg_host* host, const sg_config* config) {
  const Host::Use use(host);
  return use ? str(config->json) : sg_str{"{}", 2};
}

uint32_t kind(const sg_host*, const sg_config* config, const char* pointer) {
  const Value* value = at(config, pointer);
  if (!value) return SG_CONFIG_MISSING;
  switch (value->kind) {
    case Kind::null:
      return SG_CONFIG_NULL;
    case Kind::boolean:
      return SG_CONFIG_BOOL;
    case Kind::integer:
      return SG_CONFIG_INT;
    case Kind::number:
      return SG_CONFIG_NUM;
    case Kind::string:
      return SG_CONFIG_STR;
    case Kind::list:
      return SG_CONFIG_LIST;
    case Kind::map:
      return SG_CONFIG_MAP;
  }
  return SG_CONFIG_MISSING;
}

sg_str text(const sg_host* host, const sg_config* config, const char* pointer, sg_str fallback) {
  const Value* value = set_at(config, pointer);
  if (!value) return fallback;
  if (value->kind == Kind::string) return str(value->string);
  wrong_kind(host, *value, pointer, "text");
  return fallback;
}

int64_t integer(const sg_host* host, const sg_config* config, const char* pointer,
                int64_t fallback) {
  const Value* value = set_at(config, pointer);
  if (!value) return fallback;
  if (value->kind == Kind::integer) return value->integer;
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (value->kind == Kind::number && std::trunc(value->number) == value->number &&
      std::fabs(value->number) <= kExact)
    return static_cast<int64_t>(value->number);
  wrong_kind(host, *value, pointer, "an integer");
  return fallback;
}

double number(const sg_host* host, const sg_config* config, const char* pointer, double fallback) {
  const Value* value = set_at(config, pointer);
  if (!value) return fallback;
  if (value->kind == Kind::number) return value->number;
  if (value->kind == Kind::integer) return static_cast<double>(value->integer);
  wrong_kind(host, *value, pointer, "a number");
  return fallback;
}

uint32_t boolean(const sg_host* host, const sg_config* config, const char* pointer,
                 uint32_t fallback) {
  const Value* value = set_at(config, pointer);
  if (!value) return fallback;
  if (value->kind == Kind::boolean) return value->boolean ? 1 : 0;
  wrong_kind(host, *value, pointer, "true or false");
  return fallback;
}

// A scalar as it was written, through one of the parsers of config/value.h.
int64_t parsed(const sg_host* host, const sg_config* config, const char* pointer, int64_t fallback,
               Result<int64_t> (*parse)(std::string_view), std::string_view wanted) {
  const Value* value = set_at(config, pointer);
  if (!value) return fallback;
  if (value->kind == Kind::integer || value->kind == Kind::number || value->kind == Kind::string) {
    const bool made_here = value->kind == Kind::integer && value->string.empty();
    const auto out = parse(made_here ? std::to_string(value->integer) : value->string);
    if (out) return *out;
    complain(host, *value, pointer, out.error().text);
    return fallback;
  }
  wrong_kind(host, *value, pointer, wanted);
  return fallback;
}

int64_t duration(const sg_host* host, const sg_config* config, const char* pointer,
                 int64_t fallback) {
  return parsed(host, config, pointer, fallback, config::parse_duration, "a duration such as 10s");
}

int64_t size(const sg_host* host, const sg_config* config, const char* pointer, int64_t fallback) {
  return parsed(host, config, pointer, fallback, config::parse_size, "a size such as 10 MB");
}

size_t count(const sg_host*, const sg_config* config, const char* pointer) {
  const Value* value = at(config, pointer);
  if (!value) return 0;
  if (value->kind == Kind::list) return value->list.size();
  return value->kind == Kind::map ? value->map.size() : 0;
}

sg_str key_at(const sg_host*, const sg_config* config, const char* pointer, size_t index) {
  const Value* value = at(config, pointer);
  if (!value || value->kind != Kind::map || index >= value->map.size()) return str("");
  return str(value->map[index].first.string);
}

// The functions above may run out of memory while they build a complaint; nothing may unwind into
// the plugin. After destroy() there is no configuration to look at.
template <auto fn>
struct Slot;
template <class R, class... A, R (*fn)(const sg_host*, const sg_config*, const char*, A...)>
struct Slot<fn> {
  static R call(const sg_host* host, const sg_config* config, const char* pointer, A... rest) {
    const Host::Use use(host);
    if (!use) return R{};
    try {
      return fn(host, config, pointer, rest...);
    } catch (...) {
      return R{};
    }
  }
};

}  // namespace

void fill_config_getters(sg_host& host) {
  host.config_json = json;
  host.config_kind = Slot<kind>::call;
  host.config_str = Slot<text>::call;
  host.config_int = Slot<integer>::call;
  host.config_num = Slot<number>::call;
  host.config_bool = Slot<boolean>::call;
  host.config_duration_ns = Slot<duration>::call;
  host.config_size = Slot<size>::call;
  host.config_count = Slot<count>::call;
  host.config_key_at = Slot<key_at>::call;
}

}  // namespace sandglass::plugin
