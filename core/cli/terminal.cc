#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace sandglass::cli {

bool is_terminal(int fd) {
  return ::isatty(fd) == 1;
}

void terminal_size(uint32_t& rows, uint32_t& columns) {
  winsize size{};
  rows = 24, columns = 80;
  if (::ioctl(0, TIOCGWINSZ, &size) < 0 || size.ws_row == 0 || size.ws_col == 0) return;
  rows = size.ws_row;
  columns = size.ws_col;
}

RawMode::RawMode() {
  if (::tcgetattr(0, &before_) < 0) return;
  termios raw = before_;
  ::cfmakeraw(&raw);
  changed_ = ::tcsetattr(0, TCSADRAIN, &raw) == 0;
}

RawMode::~RawMode() {
  if (changed_) ::tcsetattr(0, TCSADRAIN, &before_);
}

}  // namespace sandglass::cli
