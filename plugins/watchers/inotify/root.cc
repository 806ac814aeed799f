// The root itself: gone, back, or another directory under its name. And what people are told.
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "run.h"

namespace inotify_watcher {

constexpr uint64_t kRootRetryNs = 250'000'000;
constexpr uint64_t kBlindPauseNs = 1'000'000'000;
constexpr uint64_t kBlindPauseMaxNs = 60'000'000'000;

// Our own descriptor keeps a removed root's inode alive, so nothing would tell of its end: ask the
// directory that holds it for its name.
bool Run::watch_above() {
  if (above_.empty()) return true;
  above_wd_ = ::inotify_add_watch(
      inotify_.get(), above_.c_str(),
      IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ONLYDIR | IN_DONT_FOLLOW);
  return above_wd_ >= 0;
}

void Run::check_root() {
  root_doubted_ = false;
  root_retry_ns_ = 0;
  const uint64_t now = host_->now_ns(host_);
  // Watch first, look second: a root that is made in between is told of.
  if (above_wd_ < 0 && !watch_above()) root_retry_ns_ = now + kRootRetryNs;
  struct stat st {};
  const bool there = ::lstat(root_.c_str(), &st) == 0 && S_ISDIR(st.st_mode);
  if (there && watches_.is_root(st.st_dev, st.st_ino)) return;
  if (watches_.root_open()) {
    watches_.close_root();
    hints_.add(SG_HINT_ENTRY, SG_HINTF_GONE, "", "");
    say_state("gone", "the root was removed or renamed; waiting for it to come back");
  }
  if (!there) {
    if (above_wd_ < 0) root_retry_ns_ = now + kRootRetryNs;
    return;
  }
  if (!watches_.open_root(root_)) {
    root_retry_ns_ = now + kRootRetryNs;
    return;
  }
  say_state("native", "inotify, after the root came back");
  hints_.add(SG_HINT_TREE, SG_HINTF_BORN, "", "");
}

static long limit() {
  long least = -1;
  for (const char* file :
       {"/proc/sys/fs/inotify/max_user_watches", "/proc/sys/user/max_inotify_watches"}) {
    long value = 0;
    if (std::ifstream(file) >> value) least = least < 0 ? value : std::min(least, value);
  }
  return least;
}

// Each time that there are more or fewer of them.
void Run::say_foreign() {
  if (watches_.foreign() == foreign_said_) return;
  foreign_said_ = watches_.foreign();
  if (foreign_said_ == 0) return say_state("native", "inotify");
  say_state("native and polling", "inotify; it does not hear of changes from the other side of " +
                                      std::to_string(foreign_said_) +
                                      " mounts below the root, which are polled");
}

// Once when the watches run out, and once when they suffice again.
void Run::say_exhausted() {
  if (watches_.blind() == 0) {
    blind_retry_ns_ = blind_pause_ns_ = 0;
    if (exhausted_) say_state("native", "inotify, enough watches again");
    exhausted_ = false;
    return;
  }
  if (blind_retry_ns_ == 0) {
    blind_pause_ns_ = std::clamp(2 * blind_pause_ns_, kBlindPauseNs, kBlindPauseMaxNs);
    blind_retry_ns_ = host_->now_ns(host_) + blind_pause_ns_;
  }
  if (exhausted_) return;
  exhausted_ = true;
  const std::string max = std::to_string(limit());
  const size_t wanted = watches_.count_dirs();
  const std::string text = "inotify watches are used up: fs.inotify.max_user_watches is " + max +
                           ", this tree wants " + std::to_string(wanted) + " and had " +
                           std::to_string(watches_.count()) + "; " +
                           std::to_string(watches_.blind()) +
                           " directories with all below are polled instead. Raise it: sysctl "
                           "fs.inotify.max_user_watches=" +
                           std::to_string(std::max<size_t>(2 * wanted, 524288));
  host_->log(host_, SG_LOG_WARN, nullptr, sg_str{text.data(), text.size()});
  say_state("native and polling", text);
}

void Run::say_state(const char* mode, const std::string& reason) {
  std::string json = "{\"mode\":\"" + std::string(mode) + "\",\"reason\":\"" + reason +
                     "\",\"watches\":" + std::to_string(watches_.count()) +
                     ",\"limit\":" + std::to_string(limit()) +
                     ",\"blind\":" + std::to_string(watches_.blind() + watches_.foreign()) + "}";
  sink_->state(sink_, sg_str{json.data(), json.size()});
}

}  // namespace inotify_watcher
