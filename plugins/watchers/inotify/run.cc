#include "run.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

namespace inotify_watcher {

constexpr size_t kBuffer = 256 * 1024;
constexpr ssize_t kRoom = sizeof(inotify_event) + NAME_MAX + 1;
constexpr uint64_t kRenewNs = 200'000'000;

static std::string text_of(sg_bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data), bytes.len};
}

static std::vector<std::string> ignore_of(const sg_watch_target* target) {
  std::vector<std::string> names;
  for (size_t i = 0; i < target->ignore_count; ++i) names.push_back(text_of(target->ignore[i]));
  return names;
}

static void signal(int fd) {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = ::write(fd, &one, sizeof one);
}

static void quiet(int fd) {
  uint64_t count;
  [[maybe_unused]] const ssize_t n = ::read(fd, &count, sizeof count);
}

Run::Run(const sg_host* host, sg_call* call, const sg_watch_target* target, sg_watch_sink* sink)
    : host_(host),
      call_(call),
      sink_(sink),
      root_(text_of(target->local_root)),
      ignore_(ignore_of(target)),
      inotify_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      watches_(inotify_.get(), ignore_,
               [this](uint32_t kind, const Node* dir) { tell(kind, dir); }),
      buffer_(kBuffer) {}

sg_status Run::fail(sg_status status, const std::string& text) {
  return host_->fail(host_, call_, status, 0, sg_str{"", 0}, sg_str{text.data(), text.size()});
}

// Empty when the tree is watched, else why not.
std::string Run::start() {
  if (!inotify_) {
    if (errno != EMFILE) return std::string("cannot start inotify: ") + std::strerror(errno);
    return "cannot start inotify: too many instances or open files; raise "
           "fs.inotify.max_user_instances (sysctl) or the limit of open files";
  }
  if (!wake_) return std::string("cannot make an eventfd: ") + std::strerror(errno);
  char* real = ::realpath(root_.c_str(), nullptr);
  if (!real) return "cannot watch " + root_ + ": " + std::strerror(errno);
  root_ = real;
  std::free(real);
  const size_t slash = root_.rfind('/');
  if (root_.size() > 1) {
    above_ = slash == 0 ? "/" : root_.substr(0, slash);
    name_ = root_.substr(slash + 1);
  }
  watches_.stamp(host_->now_ns(host_));
  watch_above();
  if (!watches_.open_root(root_)) return "cannot watch " + root_ + ": " + std::strerror(errno);
  return {};
}

sg_status Run::run() {
  if (const std::string why = start(); !why.empty()) return fail(SG_E_FAILED, why);
  say_state("native", "inotify");
  say_foreign();
  say_exhausted();
  sg_status status = drain();
  if (status == SG_OK) {
    sink_->ready(sink_);
    status = loop();
  }
  std::lock_guard lock(mutex_);
  over_ = true;
  for (int fd : waiting_) signal(fd);
  return status == SG_E_CANCELLED ? SG_OK : status;
}

sg_status Run::loop() {
  for (;;) {
    pollfd fds[] = {
        {inotify_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}, {call_->cancel_fd, POLLIN, 0}};
    const int n = ::poll(fds, 3, timeout_ms(host_->now_ns(host_)));
    if (n < 0 && errno != EINTR)
      return fail(SG_E_FAILED, std::string("poll: ") + std::strerror(errno));
    const bool cancelled = n > 0 && fds[2].revents;
    if (const sg_status status = drain(); status != SG_OK) return status;
    if (n > 0 && fds[1].revents) answer_flushes();
    if (cancelled) return SG_OK;
  }
}

int Run::timeout_ms(uint64_t now_ns) {
  uint64_t next = UINT64_MAX;
  for (uint64_t at : {limbo_ns_, renew_ns_, root_retry_ns_, blind_retry_ns_})
    if (at) next = std::min(next, at);
  if (next == UINT64_MAX) return -1;
  if (next <= now_ns) return 0;
  return static_cast<int>(std::min<uint64_t>((next - now_ns) / 1'000'000 + 1, 60'000));
}

// Reads until the queue is empty and hands over what it told; then does what is due.
sg_status Run::drain() {
  for (;;) {
    const ssize_t n = ::read(inotify_.get(), buffer_.data(), buffer_.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno != EAGAIN)
      return fail(SG_E_FAILED, std::string("read: ") + std::strerror(errno));
    const uint64_t now = host_->now_ns(host_);
    hints_.stamp(now);
    watches_.stamp(now);
    for (ssize_t at = 0; at < n;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer_.data() + at);
      on_event(*event);
      at += static_cast<ssize_t>(sizeof *event + event->len);
    }
    if (lost_ || (renew_ns_ && renew_ns_ <= now)) {
      renew_ns_ = 0;
      lost_ = false;
      hints_.lose_all();
      watches_.renew();
      root_doubted_ = true;
    }
    if (root_doubted_ || (root_retry_ns_ && root_retry_ns_ <= now)) check_root();
    if (limbo_ns_ == 0 || limbo_ns_ <= now) limbo_ns_ = watches_.clear_limbo(now);
    if (blind_retry_ns_ && blind_retry_ns_ <= now) {
      blind_retry_ns_ = 0;
      watches_.retry_blind();
    }
    if (watches_.take_short() && !renew_ns_) renew_ns_ = now + kRenewNs;
    say_foreign();
    say_exhausted();
    if (const sg_status status = hints_.send(sink_); status != SG_OK) return status;
    // The kernel fills the buffer as long as the next event fits: room left is a queue that was
    // empty.
    if (n + kRoom < static_cast<ssize_t>(kBuffer)) return SG_OK;
  }
}

// ---- Events -----------------------------------------------------------------

void Run::on_event(const inotify_event& event) {
  if (event.mask & IN_Q_OVERFLOW) {
    lost_ = true;
    return;
  }
  const std::string_view name = event.len ? std::string_view(event.name) : std::string_view();
  if (event.wd == above_wd_) {
    if (event.mask & (IN_IGNORED | IN_UNMOUNT)) above_wd_ = -1;
    if (name == name_ || above_wd_ < 0) root_doubted_ = true;
    return;
  }
  Node* dir = watches_.find(event.wd);
  if (!dir) return;
  if (event.mask & IN_IGNORED) {
    watches_.forget(event.wd);
    if (!dir->parent) root_doubted_ = true;
    return;
  }
  if (name.empty()) return;
  if (event.mask & IN_ISDIR) return on_directory(dir, name, event.mask);
  uint32_t flags = 0;
  if (event.mask & IN_CREATE) flags |= SG_HINTF_BORN;
  if (event.mask & IN_MOVED_TO) flags |= SG_HINTF_BORN | SG_HINTF_CLOSED;
  if (event.mask & (IN_DELETE | IN_MOVED_FROM)) flags |= SG_HINTF_GONE;
  if (event.mask & IN_MODIFY) flags |= SG_HINTF_DATA;
  if (event.mask & IN_ATTRIB) flags |= SG_HINTF_META;
  if (event.mask & IN_CLOSE_WRITE) flags |= SG_HINTF_CLOSED;
  on_name(dir, name, SG_HINT_ENTRY, flags);
}

void Run::on_directory(Node* dir, std::string_view name, uint32_t mask) {
  if (watches_.ignored(name)) return;
  if (mask & (IN_DELETE | IN_MOVED_FROM)) {
    // Another one may have the name by now, or the same one again.
    watches_.adopt(dir, name);
    return on_name(dir, name, SG_HINT_ENTRY, SG_HINTF_GONE);
  }
  if (mask & (IN_CREATE | IN_MOVED_TO)) {
    if (watches_.adopt(dir, name) != Watches::Came::same)
      on_name(dir, name, SG_HINT_TREE, SG_HINTF_BORN);
    return;
  }
  // A directory that could not be read may be readable now.
  if ((mask & IN_ATTRIB) && !watches_.child(dir, name) &&
      watches_.adopt(dir, name) == Watches::Came::newly)
    on_name(dir, name, SG_HINT_TREE, SG_HINTF_BORN);
}

void Run::on_name(Node* dir, std::string_view name, uint32_t kind, uint32_t flags) {
  std::string_view path;
  if (watches_.path_of(dir, path)) hints_.add(kind, flags, path, name);
}

// What the watches say of themselves: BLIND, SEEING.
void Run::tell(uint32_t kind, const Node* dir) {
  std::string_view path;
  if (!watches_.path_of(dir, path)) return;
  hints_.add(kind, 0, path, "");
  if (kind == SG_HINT_SEEING) hints_.add(SG_HINT_TREE, 0, path, "");
}

// ---- Flush ------------------------------------------------------------------

sg_status Run::flush(sg_call* call) {
  const Fd done(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!done) return SG_E_FAILED;
  {
    std::lock_guard lock(mutex_);
    if (over_) return SG_E_LOST;
    waiting_.push_back(done.get());
  }
  signal(wake_.get());
  sg_status status = host_->wait(host_, call, done.get(), SG_WAIT_READ, -1);
  std::lock_guard lock(mutex_);
  std::erase(waiting_, done.get());
  return status == SG_OK && over_ ? SG_E_LOST : status;
}

// What was queued before the request is read by a drain that begins after the request was seen.
void Run::answer_flushes() {
  quiet(wake_.get());
  std::vector<int> answered;
  {
    std::lock_guard lock(mutex_);
    answered = waiting_;
  }
  drain();
  std::lock_guard lock(mutex_);
  for (int fd : answered)
    if (std::find(waiting_.begin(), waiting_.end(), fd) != waiting_.end()) signal(fd);
  std::erase_if(waiting_, [&](int fd) {
    return std::find(answered.begin(), answered.end(), fd) != answered.end();
  });
}

}  // namespace inotify_watcher
