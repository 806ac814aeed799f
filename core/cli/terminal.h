// The terminal the user sits at.
#pragma once

#include <termios.h>

#include <cstdint>

namespace sandglass::cli {

bool is_terminal(int fd);
// Rows and columns of the terminal at stdin; 24 x 80 where it does not say.
void terminal_size(uint32_t& rows, uint32_t& columns);

// Raw mode while it lives: keys go to the command as they are, Ctrl-C included.
class RawMode {
 public:
  RawMode();
  ~RawMode();
  RawMode(const RawMode&) = delete;
  RawMode& operator=(const RawMode&) = delete;

 private:
  termios before_{};
  bool changed_ = false;
};

}  // namespace sandglass::cli
