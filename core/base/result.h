// Errors are values. A function that can fail returns Result<T>; its Error says what failed, where,
// why, and what to do about it, in one text that people read as it is.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace sandglass {

// What kind of failure it is: decides exit codes and the `kind` field of JSON errors.
// The first thirteen are sg_status of the plugin ABI, with the same numbers.
enum class Fault : int {
  failed = 1,
  invalid = 2,
  unsupported = 3,
  not_found = 4,
  exists = 5,
  denied = 6,
  busy = 7,
  timeout = 8,
  cancelled = 9,
  lost = 10,
  corrupt = 11,
  no_memory = 12,
  config = 100,     // a configuration file or command line that cannot be used
  isolation = 101,  // isolation was asked for and cannot be had
  plugin = 102,     // a plugin is missing or was refused
};

// The word a person and a JSON reader see: "not_found", "config", ...
std::string_view name_of(Fault fault);

struct Error {
  Fault fault = Fault::failed;
  std::string text;
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

inline tl::unexpected<Error> fail(Fault fault, std::string text) {
  return tl::unexpected<Error>(Error{fault, std::move(text)});
}

// "what: <strerror of code>", with the Fault that fits the errno.
tl::unexpected<Error> fail_errno(int code, std::string_view what);

}  // namespace sandglass
