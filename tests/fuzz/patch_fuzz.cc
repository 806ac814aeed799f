// Any two contents and any name give a patch with a whole header, or an error.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "git/patch.h"

using namespace sandglass;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const std::string_view all(reinterpret_cast<const char*>(data + 2), size - 2);
  const size_t name = data[0] % (all.size() + 1), before = name + data[1] % (all.size() - name + 1);
  git::Side old_side, new_side;
  old_side.mode = new_side.mode = 0100644;
  old_side.bytes = all.substr(name, before - name);
  new_side.bytes = all.substr(before);
  const auto patch =
      git::make_patch(name == 0 ? std::string_view("f") : all.substr(0, name), old_side, new_side);
  if (!patch || patch->empty()) return 0;
  if (patch->compare(0, 11, "diff --git ") != 0 || patch->back() != '\n') std::abort();
  if (patch->substr(0, patch->find('\n')).find('\0') != std::string::npos) std::abort();
  return 0;
}
