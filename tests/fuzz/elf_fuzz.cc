// A plugin file of any bytes is understood or refused, the same each time, in one harmless line.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "base/fd.h"
#include "base/text.h"
#include "fuzz.h"
#include "plugin/elf.h"

using namespace sandglass;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Fd file(::memfd_create("fuzz", MFD_CLOEXEC));
  if (!file || !write_all(file.get(), {reinterpret_cast<const char*>(data), size})) return 0;
  const auto first = plugin::look_into(file.get());
  const auto second = plugin::look_into(file.get());
  fuzz::require(first.has_value() == second.has_value(), "the answer is the same each time");
  if (!first) {
    const std::string& text = first.error().text;
    fuzz::require(!text.empty() && text == second.error().text, "a refusal says why", text);
    fuzz::require(shown_text(text) == text && text.find('\n') == text.npos, "in one line", text);
    return 0;
  }
  fuzz::require(first->needed == second->needed, "the needed libraries are the same each time");
  fuzz::require(std::is_sorted(first->tables.begin(), first->tables.end(),
                               [](const auto& a, const auto& b) { return a.major < b.major; }),
                "tables come by major");
  for (const std::string& needed : first->needed)
    fuzz::require(needed.find('\0') == needed.npos, "a library's name ends at its zero", needed);
  return 0;
}
