// A configuration of any bytes loads, or is refused with a problem that has a text.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "config/definition.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto loaded =
      sandglass::config::load_text({reinterpret_cast<const char*>(data), size}, "fuzz.yaml",
                                   [](const char*) -> const char* { return "value"; });
  for (const auto& problem : loaded.problems)
    if (problem.text.empty()) std::abort();
  return 0;
}
