// A git configuration of any bytes: names come as documented, the same text says the same.
#include "fuzz.h"
#include "git/gitconfig.h"

using namespace sandglass;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const git::GitConfig config = git::parse_git_config(text);
  fuzz::require(config == git::parse_git_config(text), "the same each time");
  for (const auto& [name, value] : config) {
    const size_t first = name.find('.'), last = name.rfind('.');
    fuzz::require(first != name.npos && last + 1 < name.size(), "section.key", name);
    for (std::string_view part :
         {std::string_view(name).substr(0, first), std::string_view(name).substr(last + 1)})
      for (const char c : part)
        fuzz::require(!(c >= 'A' && c <= 'Z'), "section and key are in lower case", name);
  }
  return 0;
}
