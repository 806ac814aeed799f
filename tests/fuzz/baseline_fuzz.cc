// A stored baseline of any bytes is read or refused; what was read is written and read the same.
#include "fuzz.h"
#include "git/content.h"

using namespace sandglass;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto read = git::Baseline::from_json({reinterpret_cast<const char*>(data), size});
  if (!read) {
    fuzz::require(!read.error().text.empty(), "a refusal says why");
    return 0;
  }
  const std::string written = read->to_json();
  const auto again = git::Baseline::from_json(written);
  fuzz::require(again.has_value(), "what was written can be read", written);
  fuzz::require(*again == *read, "what was written is what was read", written);
  return 0;
}
