// A FUSE mount that shows another directory: what is written on the other side makes no event here.
#pragma once

#include <sys/mount.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <optional>
#include <string>

#include "e2e/background.h"

namespace sandglass::watch::testing {

class Bindfs {
 public:
  Bindfs(const std::string& from, const std::string& to) : to_(to) {
    if (::access("/dev/fuse", R_OK | W_OK) < 0 || ::access("/usr/bin/bindfs", X_OK) < 0) return;
    daemon_.emplace(std::vector<std::string>{"/usr/bin/bindfs", "-f", from, to}, "/", "/dev/null");
    mounted_ = sandglass::testing::eventually([&] { return is_fuse(); }, 5'000);
  }
  ~Bindfs() {
    if (mounted_ && ::umount2(to_.c_str(), MNT_DETACH) == 0) daemon_->wait();
  }
  Bindfs(const Bindfs&) = delete;
  Bindfs& operator=(const Bindfs&) = delete;
  explicit operator bool() const { return mounted_; }  // FUSE and bindfs are there to be used

 private:
  bool is_fuse() const {
    struct statfs fs {};
    return ::statfs(to_.c_str(), &fs) == 0 && fs.f_type == 0x65735546;
  }
  const std::string to_;
  std::optional<sandglass::testing::Background> daemon_;
  bool mounted_ = false;
};

}  // namespace sandglass::watch::testing
