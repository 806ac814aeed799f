#include "proc/image.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U
#endif
#ifndef MFD_EXEC
#define MFD_EXEC 16U
#endif

// SANDGLASS_KEEPER is the path of the built program; the section holds its bytes.
asm(".pushsection .rodata\n"
    ".balign 16\n"
    "sandglass_keeper_begin:\n"
    ".incbin \"" SANDGLASS_KEEPER
    "\"\n"
    "sandglass_keeper_end:\n"
    ".byte 0\n"
    ".popsection\n");
extern "C" {
extern const char sandglass_keeper_begin[] __attribute__((visibility("hidden")));
extern const char sandglass_keeper_end[] __attribute__((visibility("hidden")));
}

namespace sandglass::proc {
namespace {

// Kernels before 6.3 do not know the flag that says whether the file may be executed.
Result<Fd> filled(const char* name, unsigned exec_flag, std::string_view bytes) {
  int fd = ::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | exec_flag);
  if (fd < 0 && errno == EINVAL) fd = ::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return fail_errno(errno, "cannot make a file in memory");
  Fd file(fd);
  if (Status ok = write_all(fd, bytes); !ok) return tl::unexpected(ok.error());
  return file;
}

Result<int> make_image() {
  const std::string_view program(
      sandglass_keeper_begin, static_cast<size_t>(sandglass_keeper_end - sandglass_keeper_begin));
  auto file = filled("sandglass-keep", MFD_EXEC, program);
  if (!file) {
    return fail(file.error().fault,
                file.error().text +
                    " to run the keeper from (the sysctl vm.memfd_noexec has to be "
                    "0 or 1)");
  }
  ::fcntl(file->get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL);
  return file->release();
}

}  // namespace

Result<int> keeper_image() {
  static const Result<int> image = make_image();
  return image;
}

Result<Fd> memory_file(std::string_view bytes) {
  return filled("sandglass-orders", MFD_NOEXEC_SEAL, bytes);
}

}  // namespace sandglass::proc
