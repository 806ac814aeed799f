#include "gone.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace local {
namespace {

constexpr int kLookAgainMs = 5000;  // an ancestor that is moved away makes no event below it

bool is_there(const std::string& path, const struct stat& was) {
  struct stat now;
  return ::stat(path.c_str(), &now) == 0 && now.st_dev == was.st_dev && now.st_ino == was.st_ino;
}

}  // namespace

void wait_until_gone(const sandglass::Host& host, const sandglass::Call& call, const Box& box) {
  struct stat was;
  if (::stat(box.path.c_str(), &was) < 0) return;
  const Fd events(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  // IN_ATTRIB: the link count falls when the directory is removed, while others still hold it open.
  if (events) {
    ::inotify_add_watch(events.get(), box.path.c_str(),
                        IN_DELETE_SELF | IN_MOVE_SELF | IN_ATTRIB | IN_ONLYDIR);
  }
  while (is_there(box.path, was)) {
    if (call.deadline_ns() != 0 && host.now_ns() >= call.deadline_ns()) {
      throw sandglass::Error(SG_E_TIMEOUT, "the workspace is still there", SG_FAIL_QUIET);
    }
    if (call.wait(events.get(), SG_WAIT_READ, kLookAgainMs) && events) {
      std::array<char, 4096> news;
      [[maybe_unused]] const ssize_t n = ::read(events.get(), news.data(), news.size());
    }
  }
}

}  // namespace local
