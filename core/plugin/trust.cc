#include "plugin/trust.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "base/hash.h"
#include "base/text.h"

namespace sandglass::plugin {
namespace {

constexpr off_t kMaxPinned = off_t{1} << 30;

std::string user_name(uid_t uid) {
  std::vector<char> room(16384);
  passwd entry{}, *found = nullptr;
  if (::getpwuid_r(uid, &entry, room.data(), room.size(), &found) == 0 && found)
    return found->pw_name;
  return "user " + std::to_string(uid);
}

// Distributions that give each user a group of the same name also let that group write by default
// (umask 002): such a group is the user.
bool is_private_group(gid_t gid) {
  std::vector<char> user_room(16384), group_room(65536);
  passwd user{}, *found_user = nullptr;
  group entry{}, *found = nullptr;
  if (::getpwuid_r(::geteuid(), &user, user_room.data(), user_room.size(), &found_user) != 0 ||
      !found_user || user.pw_gid != gid)
    return false;
  if (::getgrgid_r(gid, &entry, group_room.data(), group_room.size(), &found) != 0 || !found)
    return false;
  if (std::strcmp(entry.gr_name, user.pw_name) != 0) return false;
  for (char** member = entry.gr_mem; *member; member++)
    if (std::strcmp(*member, user.pw_name) != 0) return false;
  return true;
}

Status check_owner(const struct stat& status, const std::string& what, const std::string& path) {
  const uid_t me = ::geteuid();
  if (status.st_uid != 0 && status.st_uid != me)
    return fail(Fault::denied,
                what + " belongs to " + user_name(status.st_uid) +
                    ", who could change what this process runs. Make it yours: chown " +
                    user_name(me) + " " + shown(path));
  const bool sticky = S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX);
  if (!sticky && (status.st_mode & S_IWOTH))
    return fail(Fault::denied,
                what + " can be written by everyone. Take that away: chmod go-w " + shown(path));
  if (!sticky && (status.st_mode & S_IWGRP) && !is_private_group(status.st_gid))
    return fail(Fault::denied,
                what + " can be written by its group. Take that away: chmod g-w " + shown(path));
  return {};
}

Status check_folder(const std::string& path) {
  std::error_code failed;
  const auto real = std::filesystem::canonical(path, failed);
  const std::string folder = real.parent_path().string();
  struct stat status;
  if (failed || ::stat(folder.c_str(), &status) < 0)
    return fail_errno(failed ? failed.value() : errno, "its folder cannot be looked at");
  return check_owner(status, "its folder", folder);
}

}  // namespace

Result<Opened> open_trusted(const std::string& path) {
  Opened out;
  out.fd = Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!out.fd) return fail_errno(errno, "cannot be opened");
  struct stat status;
  if (::fstat(out.fd.get(), &status) < 0) return fail_errno(errno, "cannot be looked at");
  out.device = status.st_dev;
  out.inode = status.st_ino;
  if (!S_ISREG(status.st_mode)) return out;  // the look into it says what it is
  if (Status s = check_owner(status, "the file", path); !s) return tl::unexpected(s.error());
  if (Status s = check_folder(path); !s) return tl::unexpected(s.error());
  return out;
}

Status check_pin(int fd, std::string_view pin) {
  constexpr std::string_view kAlgorithm = "sha256:";
  if (pin.substr(0, kAlgorithm.size()) == kAlgorithm) pin.remove_prefix(kAlgorithm.size());
  if (pin.size() != 64 || pin.find_first_not_of("0123456789abcdefABCDEF") != pin.npos)
    return fail(Fault::config, "its pin is not a SHA-256: 64 hex digits, as sha256sum prints them");
  std::string wanted(pin);
  std::transform(wanted.begin(), wanted.end(), wanted.begin(),
                 [](char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c + 32) : c; });
  struct stat status;
  if (::fstat(fd, &status) < 0) return fail_errno(errno, "cannot be looked at");
  if (status.st_size > kMaxPinned) return fail(Fault::invalid, "is too large to be pinned");
  std::string bytes(static_cast<size_t>(status.st_size), '\0');
  size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t n =
        ::pread(fd, bytes.data() + have, bytes.size() - have, static_cast<off_t>(have));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return fail(Fault::corrupt, "cannot be read to its end");
    have += static_cast<size_t>(n);
  }
  const std::string found = sha256_hex(bytes);
  if (found == wanted) return {};
  return fail(Fault::denied, "is not the file that was pinned: its SHA-256 is " + found +
                                 ", the pin says " + wanted +
                                 ". If the new file is meant to be there, change the pin");
}

}  // namespace sandglass::plugin
