// Runs a fuzz target over the files of a folder, each as it is and cut at every length, of large
// ones at a thousand lengths.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int main(int argc, char** argv) {
  size_t inputs = 0;
  if (argc < 2) return 2;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    std::ifstream in(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    const size_t step = bytes.size() / 1000 + 1;
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    for (size_t size = 0; size < bytes.size(); size += step, inputs++)
      LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), size);
  }
  std::printf("%zu inputs\n", inputs);
  return inputs == 0;  // an empty corpus proves nothing
}
