#include "box.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <vector>

namespace local {
namespace {

constexpr char kHex[] = "0123456789abcdef";

bool is_plain(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-' || c == '/';
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char ch : text) {
    const auto c = static_cast<unsigned char>(ch);
    if (is_plain(c)) {
      out += ch;
    } else {
      out += {'%', kHex[c >> 4], kHex[c & 15]};
    }
  }
  return out;
}

sandglass::Error not_ours(std::string_view id) {
  return sandglass::Error(SG_E_INVALID, "\"" + shown(id) + "\" is not an id of the local provider");
}

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

std::string unescaped(std::string_view text, std::string_view id) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? digit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? digit(text[i + 2]) : -1;
    if (high < 0 || low < 0) throw not_ours(id);
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  if (out.find('\0') != std::string::npos) throw not_ours(id);
  return out;
}

// What follows `prefix` and a slash; false when the path lies elsewhere.
bool strip(std::string_view& path, std::string_view prefix) {
  while (prefix.size() > 1 && prefix.back() == '/') prefix.remove_suffix(1);
  if (prefix == "/") prefix = "";
  if (path.substr(0, prefix.size()) != prefix) return false;
  const std::string_view rest = path.substr(prefix.size());
  if (!rest.empty() && rest[0] != '/') return false;
  path = rest;
  return true;
}

sg_status status_of(int code) {
  switch (code) {
    case ENOENT:
    case ENOTDIR:
      return SG_E_NOT_FOUND;
    case EEXIST:
      return SG_E_EXISTS;
    case EACCES:
    case EPERM:
    case ELOOP:
    case EXDEV:
      return SG_E_DENIED;
    case EINVAL:
      return SG_E_INVALID;
    case ENOMEM:
      return SG_E_NO_MEMORY;
    default:
      return SG_E_FAILED;
  }
}

}  // namespace

Fd::~Fd() {
  if (fd_ >= 0) ::close(fd_);
}

std::string shown(std::string_view bytes) {
  std::string out;
  for (const char ch : bytes) {
    const auto c = static_cast<unsigned char>(ch);
    if (c >= 0x20 && c < 0x7f && c != '\\') {
      out += ch;
    } else if (c == '\\') {
      out += "\\\\";
    } else {
      out += {'\\', 'x', kHex[c >> 4], kHex[c & 15]};
    }
  }
  return out;
}

std::string id_of(const Box& box) {
  return "local:" + escaped(box.key) + ":" + escaped(box.owner) + ":" + escaped(box.root) + ":" +
         escaped(box.path) + ":" + (box.has_secrets ? "s" : "-");
}

Box box_of(std::string_view id) {
  std::vector<std::string_view> parts;
  for (size_t start = 0; start <= id.size();) {
    const size_t end = std::min(id.find(':', start), id.size());
    parts.push_back(id.substr(start, end - start));
    start = end + 1;
  }
  if (parts.size() != 6 || parts[0] != "local") throw not_ours(id);
  Box box{unescaped(parts[1], id), unescaped(parts[2], id), unescaped(parts[3], id),
          unescaped(parts[4], id), parts[5] == "s"};
  if (box.path.empty() || box.path[0] != '/') throw not_ours(id);
  return box;
}

std::string below(const Box& box, std::string_view path) {
  std::string_view rest = path;
  if (!path.empty() && path[0] == '/' && !strip(rest, box.root) && !strip(rest, box.path)) {
    throw sandglass::Error(SG_E_DENIED, shown(path) + " is outside the workspace " + box.root);
  }
  std::string out;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('/'), rest.size());
    const std::string_view part = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (part.empty() || part == ".") continue;
    if (part == ".." || part.find('\0') != std::string_view::npos) {
      throw sandglass::Error(SG_E_DENIED,
                             shown(path) + ": \"..\" and NUL are not allowed in a path");
    }
    if (!out.empty()) out += '/';
    out += part;
  }
  return out;
}

Fd open_workspace(const Box& box) {
  Fd fd(::open(box.path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!fd) {
    const std::error_code why(errno, std::generic_category());
    throw sandglass::Error(
        SG_E_LOST, "the workspace directory " + shown(box.path) + " is gone: " + why.message());
  }
  return fd;
}

Fd try_open(const Fd& workspace, const std::string& relative, int flags, Links links) {
  open_how how{};
  how.flags = static_cast<uint64_t>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  if (links == Links::refused) how.resolve |= RESOLVE_NO_SYMLINKS;
  const char* path = relative.empty() ? "." : relative.c_str();
  for (;;) {
    const long fd = ::syscall(SYS_openat2, workspace.get(), path, &how, sizeof how);
    if (fd >= 0 || (errno != EAGAIN && errno != EINTR)) return Fd(static_cast<int>(fd));
  }
}

sandglass::Error errno_error(int code, const std::string& what, std::string_view path) {
  const std::error_code why(code, std::generic_category());
  return sandglass::Error(status_of(code),
                          "cannot " + what + " " + shown(path) + ": " + why.message(),
                          code == ENOENT ? uint32_t{SG_FAIL_QUIET} : 0u);
}

}  // namespace local
