// One sandbox of this provider: what its id says, and the directory behind it.
#pragma once

#include <sandglass/plugin.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace local {

class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd();
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

struct Box {
  std::string key, owner;
  std::string root;  // inside: "/workspace"
  std::string path;  // on this machine, absolute and without links
  bool has_secrets = false;
};

// "local:<key>:<owner>:<root>:<path>:<s or ->", each part percent-escaped. box_of throws
// SG_E_INVALID.
std::string id_of(const Box& box);
Box box_of(std::string_view id);

// A path inside, or below the root, or the real one, as a path below the directory ("" is itself).
// Throws SG_E_DENIED for one that lies elsewhere or holds "..".
std::string below(const Box& box, std::string_view path);

// The directory itself; throws SG_E_LOST when it is gone.
Fd open_workspace(const Box& box);

enum class Links { refused, within };
// openat2 below the directory: a descriptor, or an empty one with errno set.
Fd try_open(const Fd& workspace, const std::string& relative, int flags, Links links);

// The error of a failed call: "cannot <what> <path>: <errno's text>".
sandglass::Error errno_error(int code, const std::string& what, std::string_view path);
// A path for people: control and other odd bytes as \x1b.
std::string shown(std::string_view bytes);

}  // namespace local
