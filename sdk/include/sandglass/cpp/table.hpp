// From a class to the sg_type of the table, and the table itself.
#ifndef SANDGLASS_CPP_TABLE_HPP
#define SANDGLASS_CPP_TABLE_HPP

#include <array>
#include <memory>
#include <new>
#include <sandglass/cpp/host.hpp>
#include <type_traits>

namespace sandglass {
inline namespace sdk1 {
namespace detail {

// SANDGLASS_DETECT(has_flush, std::declval<T&>().flush(std::declval<Call>())): has_flush<T> is true
// where the expression compiles.
#define SANDGLASS_DETECT(name, ...)                                              \
  template <class T, class = void>                                               \
  struct name##_test : std::false_type {};                                       \
  template <class T>                                                             \
  struct name##_test<T, std::void_t<decltype(__VA_ARGS__)>> : std::true_type {}; \
  template <class T>                                                             \
  constexpr bool name = name##_test<T>::value

// can_<name><T>: T has a function of that name which takes these arguments. SANDGLASS_OFFER puts it
// into the table `made`; one with other arguments does not compile, or it would go unused in
// silence.
#define SANDGLASS_MEMBER(name, ...)                                   \
  SANDGLASS_DETECT(can_##name, std::declval<T&>().name(__VA_ARGS__)); \
  SANDGLASS_DETECT(named_##name, &T::name)
#define SANDGLASS_OFFER(name)                                                 \
  static_assert(can_##name<T> || !named_##name<T>,                            \
                #name "() is there, but does not take what the host passes"); \
  if constexpr (can_##name<T>) made.name = name

SANDGLASS_DETECT(has_schema, static_cast<const char*>(T::config_schema));
SANDGLASS_DETECT(has_flags, static_cast<uint32_t>(T::flags));
SANDGLASS_DETECT(has_diagnose, T::diagnose(std::declval<Host>(), std::declval<const Config&>(),
                                           std::declval<Out>()));

// What `self` points to: the author's object and the host it talks to.
template <class T>
struct Self {
  const sg_host* host;
  std::unique_ptr<T> value;

  static Self& of(void* self) { return *static_cast<Self*>(self); }
  static T& value_of(void* self) { return *of(self).value; }
};

template <class T>
std::unique_ptr<T> construct(const sg_host* host, const Config& config) {
  if constexpr (std::is_constructible_v<T, Host, const Config&>)
    return std::make_unique<T>(Host(host), config);
  else if constexpr (std::is_constructible_v<T, Host>)
    return std::make_unique<T>(Host(host));
  else {
    static_assert(std::is_default_constructible_v<T>,
                  "a plugin class is made from (Host, const Config&), (Host) or nothing");
    return std::make_unique<T>();
  }
}

template <class T>
sg_status create(const sg_host* host, sg_call* call, const sg_config* config, void** self) {
  return guard(host, call, [&] {
    *self = new Self<T>{host, construct<T>(host, Config(host, config))};
  });
}

template <class T>
void destroy(void* self) {
  delete static_cast<Self<T>*>(self);
}

template <class T>
sg_status diagnose(const sg_host* host, sg_call* call, const sg_config* config, sg_out* json) {
  return guard(host, call, [&] { T::diagnose(Host(host), Config(host, config), Out(json)); });
}

template <class T>
constexpr sg_type make_type(const char* kind, const char* name, const char* summary,
                            const void* methods) {
  sg_type type = {};
  type.struct_size = sizeof(sg_type);
  type.kind = kind;
  type.name = name;
  type.summary = summary;
  type.methods = methods;
  type.create = create<T>;
  type.destroy = destroy<T>;
  if constexpr (has_flags<T>) type.flags = T::flags;
  if constexpr (has_schema<T>) type.config_schema = T::config_schema;
  if constexpr (has_diagnose<T>) type.diagnose = diagnose<T>;
  return type;
}

template <class... T>
constexpr std::array<sg_type, sizeof...(T)> types(T... type) {
  return {type...};
}

template <size_t N>
constexpr std::array<const sg_type*, N + 1> pointers(const std::array<sg_type, N>& types) {
  std::array<const sg_type*, N + 1> out = {};
  for (size_t i = 0; i < N; i++) out[i] = &types[i];
  return out;
}

}  // namespace detail
}  // namespace sdk1
}  // namespace sandglass

// SANDGLASS_PLUGIN(id, version, types...): once in a plugin. The table is a constant: nothing runs
// when the file is loaded.
#define SANDGLASS_PLUGIN(id, version, ...) \
  SANDGLASS_PLUGIN_ABOUT(id, version, nullptr, nullptr, __VA_ARGS__)

// The same with an SPDX license and the URL of the project.
#define SANDGLASS_PLUGIN_ABOUT(id, version, license, url, ...)                             \
  static constexpr auto sandglass_types_ = ::sandglass::detail::types(__VA_ARGS__);        \
  static constexpr auto sandglass_list_ = ::sandglass::detail::pointers(sandglass_types_); \
  extern "C" SG_EXPORT const sg_plugin sg_plugin_v1 = {                                    \
      sizeof(sg_plugin), SG_ABI_MAJOR, SG_ABI_MINOR,          0, id, version,              \
      license,           url,          sandglass_list_.data()};

#endif  // SANDGLASS_CPP_TABLE_HPP
