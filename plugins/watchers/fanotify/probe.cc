#include "probe.h"

#include <sys/fanotify.h>
#include <sys/vfs.h>

#include <cerrno>
#include <cstring>

#include "../common/foreign.h"

namespace fanotify_watcher {
namespace {

constexpr unsigned kInit = FAN_CLASS_NOTIF | FAN_CLOEXEC | FAN_NONBLOCK | FAN_UNLIMITED_QUEUE |
                           FAN_UNLIMITED_MARKS | FAN_REPORT_DFID_NAME_TARGET;
constexpr uint64_t kMask =
    FAN_CREATE | FAN_DELETE | FAN_RENAME | FAN_MODIFY | FAN_CLOSE_WRITE | FAN_ATTRIB | FAN_ONDIR;

std::string why_no_group(int error) {
  switch (error) {
    case EPERM:
      return "fanotify needs CAP_SYS_ADMIN in the first user namespace: run sandglass as root, or "
             "use the watcher inotify";
    case EINVAL:
    case ENOSYS:
      return "fanotify of this kernel cannot tell names and targets: use Linux 5.17 or newer, or "
             "the watcher inotify";
    case EMFILE:
      return "too many fanotify groups or open files: raise fs.fanotify.max_user_groups (sysctl) "
             "or the limit of open files";
    default:
      return std::string("cannot start fanotify: ") + std::strerror(error);
  }
}

std::string why_no_mark(const std::string& root, long type, int error) {
  constexpr unsigned long kOverlay = 0x794c7630;
  const std::string start = "fanotify cannot watch the file system of " + root + ": ";
  const bool overlay = (static_cast<unsigned long>(type) & 0xffffffffUL) == kOverlay;
  switch (error) {
    case EOPNOTSUPP:
      if (overlay)
        return start +
               "an overlay gives out no file handles unless it is mounted with "
               "index=on,nfs_export=on; use the watcher inotify";
      return start + "it gives out no file handles; use the watcher inotify";
    case ENODEV:
      return start + "it has no file system id; use the watcher inotify";
    case EXDEV:
      return start +
             "it is a subvolume with an id of its own (btrfs); put the workspace on the top-level "
             "volume, or use the watcher inotify";
    case EPERM:
      return start + why_no_group(EPERM);
    case EINVAL:
      return start + why_no_group(EINVAL);
    default:
      return start + std::strerror(error);
  }
}

}  // namespace

bool mark(int fan, int fd) {
  struct statfs fs {};
  if (::fstatfs(fd, &fs) < 0) return false;
  if (watcher_common::foreign(fs)) {
    errno = EOPNOTSUPP;
    return false;
  }
  return ::fanotify_mark(fan, FAN_MARK_ADD | FAN_MARK_FILESYSTEM, kMask, fd, nullptr) == 0;
}

Fd open_group(const std::string& root, std::string& why) {
  const Fd dir(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct statfs fs {};
  if (!dir || ::fstatfs(dir.get(), &fs) < 0) {
    why = "cannot watch " + root + ": " + std::strerror(errno);
    return Fd();
  }
  if (const char* type = watcher_common::foreign(fs)) {
    why = root + " is on " + type +
          ", where fanotify does not hear of changes from the other side; use a polling watcher";
    return Fd();
  }
  Fd fan(::fanotify_init(kInit, O_RDONLY | O_CLOEXEC | O_LARGEFILE));
  if (!fan) {
    why = why_no_group(errno);
    return Fd();
  }
  Handle handle;
  errno = 0;
  if (!mark(fan.get(), dir.get()) || !handle_at(dir.get(), "", handle)) {
    why = why_no_mark(root, static_cast<long>(fs.f_type), errno);
    return Fd();
  }
  return fan;
}

}  // namespace fanotify_watcher
