#include "cli/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <mutex>

#include "base/fd.h"
#include "base/json.h"
#include "base/text.h"

namespace sandglass::cli {
namespace {
int real_stdout = 1;
std::mutex out_mutex;
}  // namespace

// A standard descriptor the caller has closed would be given to the next file we open: a journal
// must never become our stdout.
static void fill_standard_descriptors() {
  for (int fd = 0; fd <= 2; fd++)
    while (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", O_RDWR) < fd) {
    }
}

void claim_stdout() {
  fill_standard_descriptors();
  const int copy = ::fcntl(1, F_DUPFD_CLOEXEC, 3);
  if (copy < 0) return;
  real_stdout = copy;
  ::dup2(2, 1);
}

bool print(std::string_view bytes) {
  std::lock_guard lock(out_mutex);
  return write_all(real_stdout, bytes).has_value();
}

bool print_line(std::string_view text) {
  return print(std::string(text) + "\n");
}

bool print_contents(std::string_view bytes) {
  return ::isatty(real_stdout) == 1 ? print(shown_text(bytes)) : print(bytes);
}

void say(std::string_view text) {
  (void)write_all(2, std::string(text) + "\n");
}

void print_error(const Error& error, bool json) {
  say(std::string(name_of(error.fault)) + ": " + error.text);
  if (!json) return;
  JsonWriter w;
  w.open('{').key("error").open('{').key("kind").value(name_of(error.fault));
  w.key("message").value(error.text).close('}').close('}');
  print_line(w.text());
}

int exit_code(const Error& error) {
  switch (error.fault) {
    case Fault::config:
    case Fault::invalid:
      return kUsage;
    case Fault::not_found:
      return 3;
    case Fault::isolation:
      return 4;
    case Fault::lost:
      return 5;
    default:
      return 1;
  }
}

std::string count_of(uint64_t n, std::string_view noun) {
  return std::to_string(n) + " " + std::string(noun) + (n == 1 ? "" : "s");
}

}  // namespace sandglass::cli
