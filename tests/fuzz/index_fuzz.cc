// The index of any bytes: what comes out lies within it, in order, and is found again.
#include "fuzz.h"
#include "git/index_file.h"

using namespace sandglass;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto index = git::IndexFile::parse(bytes, UINT64_MAX);
  if (!index) return 0;
  fuzz::require(index->entries().size() <= bytes.size() / 62, "no entry without bytes");
  std::string_view before;
  for (const auto& entry : index->entries()) {
    const std::string_view path = index->path_of(entry);
    fuzz::require(before <= path, "in order", path);
    before = path;
    struct stat st {};
    st.st_size = entry.size;
    st.st_ino = entry.inode;
    (void)index->is_clean(path, st, entry.mode, entry.id);
  }
  return 0;
}
