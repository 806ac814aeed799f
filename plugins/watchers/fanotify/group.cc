#include "group.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

#include "probe.h"

namespace fanotify_watcher {

constexpr size_t kBuffer = 256 * 1024;
constexpr ssize_t kRoom = 2048;  // the longest event: two names, three handles

namespace {

struct Groups {
  std::mutex mutex;
  std::map<uint64_t, std::weak_ptr<Group>> by_fsid;
};

Groups& groups() {
  static auto* all = new Groups;  // a run may end while the process exits
  return *all;
}

void signal_fd(int fd) {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = ::write(fd, &one, sizeof one);
}

void quiet(int fd) {
  uint64_t count;
  [[maybe_unused]] const ssize_t n = ::read(fd, &count, sizeof count);
}

}  // namespace

std::shared_ptr<Group> Group::of(const std::string& root, std::string& why) {
  uint64_t fsid = 0;
  {
    const Fd dir(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!dir || !fsid_of(dir.get(), fsid)) {
      why = "cannot watch " + root + ": " + std::strerror(errno);
      return nullptr;
    }
  }
  Groups& all = groups();
  std::lock_guard lock(all.mutex);
  std::weak_ptr<Group>& known = all.by_fsid[fsid];
  if (auto group = known.lock()) {
    std::lock_guard inside(group->mutex_);
    if (!group->dead_) return group;
  }
  Fd fan = open_group(root, why);
  if (!fan) return nullptr;
  auto group = std::make_shared<Group>(std::move(fan));
  if (!group->wake_) {
    why = std::string("cannot make an eventfd: ") + std::strerror(errno);
    return nullptr;
  }
  group->marked_.push_back(fsid);
  known = group;
  return group;
}

// The host's signals are not for this thread.
Group::Group(Fd fan)
    : fan_(std::move(fan)), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), buffer_(kBuffer) {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { read_loop(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::pthread_setname_np(thread_.native_handle(), "sg-fanotify");
}

Group::~Group() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  signal_fd(wake_.get());
  thread_.join();
}

std::string Group::join(Run& run) {
  std::unique_lock lock(mutex_);
  run.hints.stamp(run.now_ns());
  runs_.push_back(&run);
  watch_above(run);
  if (!open_root(run, &lock)) return "cannot watch " + run.root_path + ": " + std::strerror(errno);
  run.starting = false;
  settle(run.now_ns());  // what changed meanwhile
  run.say_state("native", "fanotify on the file system", runs_.size());
  signal_fd(wake_.get());  // hands over what there is to say already
  return {};
}

void Group::leave(Run& run) {
  std::unique_lock lock(mutex_);
  handed_.wait(lock, [&] { return !handing_; });
  const auto is_its = [&](const Request& one) { return one.run == &run; };
  std::erase(runs_, &run);
  std::erase_if(asked_, is_its);
  std::erase_if(owing_, is_its);
  run.doubts.clear();
  close_root(run);
  if (run.above) dirs_.drop(run.above);
  run.above = nullptr;
  dirs_.bury();
}

void Group::ask(Run& run, Run::Answer answer) {
  {
    std::lock_guard lock(mutex_);
    if (std::find(runs_.begin(), runs_.end(), &run) == runs_.end()) return;
    asked_.push_back({&run, std::move(answer)});
  }
  signal_fd(wake_.get());
}

// ---- The reader -------------------------------------------------------------

void Group::read_loop() {
  for (;;) {
    int timeout;
    {
      std::lock_guard lock(mutex_);
      if (stop_) return;
      timeout = timeout_ms();
    }
    pollfd fds[] = {{fan_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
    if (::poll(fds, 2, timeout) > 0 && fds[1].revents) quiet(wake_.get());
    while (drain()) {
    }
  }
}

int Group::timeout_ms() {
  uint64_t next = UINT64_MAX;
  for (const Run* run : runs_)
    for (uint64_t at : {run->root_retry_ns, run->renew_ns})
      if (at) next = std::min(next, at);
  if (next == UINT64_MAX) return -1;
  const uint64_t now = runs_.front()->now_ns();
  return next <= now ? 0
                     : static_cast<int>(std::min<uint64_t>((next - now) / 1'000'000 + 1, 60'000));
}

size_t Group::queued() const {
  int bytes = 0;  // the kernel counts each event as its fixed part
  if (::ioctl(fan_.get(), FIONREAD, &bytes) < 0 || bytes < 0) return SIZE_MAX;
  return static_cast<size_t>(bytes) / FAN_EVENT_METADATA_LEN;
}

// Reads once and hands over what that told. True while there may be more. A flush is met when as
// many events were read as were queued when it was asked for: neighbours that write on do not
// hold it up.
bool Group::drain() {
  std::unique_lock lock(mutex_);
  if (stop_ || dead_) return false;
  if (!asked_.empty()) {
    for (Request& one : asked_) owing_.push_back(std::move(one));
    asked_.clear();
    owed_ = queued();
  }
  lock.unlock();
  const ssize_t n = ::read(fan_.get(), buffer_.data(), buffer_.size());
  const int error = errno;
  lock.lock();
  if (n < 0 && error == EINTR) return true;
  if (n < 0 && error != EAGAIN) {
    give_up(std::string("fanotify: ") + std::strerror(error));
    return false;
  }
  const uint64_t now = runs_.empty() ? 0 : runs_.front()->now_ns();
  for (Run* run : runs_) run->hints.stamp(now);
  const char* const end = buffer_.data() + std::max<ssize_t>(n, 0);
  for (const char* at = buffer_.data(); at + sizeof(fanotify_event_metadata) <= end;) {
    fanotify_event_metadata meta;  // it may stand at any multiple of four
    std::memcpy(&meta, at, sizeof meta);
    if (meta.event_len < sizeof meta || at + meta.event_len > end) break;
    if (meta.vers == FANOTIFY_METADATA_VERSION) on_event(meta, at);
    if (owed_ > 0 && owed_ != SIZE_MAX) --owed_;
    at += meta.event_len;
  }
  settle(now);
  const bool emptied = n + kRoom < static_cast<ssize_t>(kBuffer);
  hand_over(lock, emptied);
  return !emptied;
}

// Looks at what the events left open.
void Group::settle(uint64_t now_ns) {
  for (Run* run : runs_) {
    if (run->starting) continue;
    for (auto& node : run->displaced) dirs_.drop(std::move(node));
    run->displaced.clear();
    const auto doubts = std::move(run->doubts);
    run->doubts.clear();
    for (const Run::Doubt& doubt : doubts)
      if (doubt.dir->run == run && adopt(doubt.dir, doubt.name) == Came::newly)
        tell(doubt.dir, doubt.name, SG_HINT_TREE, SG_HINTF_BORN | SG_HINTF_CLOSED, doubt.pid);
    if (run->lost || (run->renew_ns && run->renew_ns <= now_ns)) renew(*run);
    if (run->root_doubted || (run->root_retry_ns && run->root_retry_ns <= now_ns))
      check_root(*run, now_ns);
  }
  if (std::none_of(runs_.begin(), runs_.end(), [](const Run* run) { return run->starting; }))
    dirs_.bury();
}

void Group::hand_over(std::unique_lock<std::mutex>& lock, bool emptied) {
  const bool met = emptied || owed_ == 0;
  struct Load {
    Run* run;
    std::vector<Run::Answer> answers;
  };
  std::vector<Load> loads;
  for (Run* run : runs_) {
    if (run->starting) continue;
    Load load{run, {}};
    if (met)
      for (Request& one : owing_)
        if (one.run == run) load.answers.push_back(std::move(one.answer));
    if (!run->hints.empty() || !load.answers.empty()) loads.push_back(std::move(load));
  }
  if (met) std::erase_if(owing_, [](const Request& one) { return !one.run->starting; });
  if (loads.empty()) return;
  const bool alone = runs_.size() == 1;
  handing_ = true;
  lock.unlock();
  for (Load& load : loads) load.run->hand_over(load.run->hints, std::move(load.answers), alone);
  lock.lock();
  handing_ = false;
  handed_.notify_all();
}

void Group::give_up(const std::string& why) {
  dead_ = true;
  for (Run* run : runs_) run->fail_with(why);
}

}  // namespace fanotify_watcher
