// A blob is an LFS pointer only as it would be written again, and names a place in the store.
#include "fuzz.h"
#include "git/lfs.h"

using namespace sandglass;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view blob(reinterpret_cast<const char*>(data), size);
  const auto pointer = git::parse_lfs_pointer(blob);
  if (!pointer) return 0;
  const std::string again =
      "version https://git-lfs.github.com/spec/v1\noid sha256:" + pointer->sha256 + "\nsize " +
      std::to_string(pointer->size) + "\n";
  fuzz::require(again == blob, "the pointer is written as it was read", blob);
  const std::string path = git::path_in_store(*pointer);
  fuzz::require(path.size() == 70 && path.find_first_not_of("0123456789abcdef/") == path.npos,
                "its place is below the store", path);
  return 0;
}
