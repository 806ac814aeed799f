#include "run.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "group.h"

namespace fanotify_watcher {

constexpr size_t kMostPending = 100'000;

static std::string text_of(sg_bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data), bytes.len};
}

static void signal_fd(int fd) {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = ::write(fd, &one, sizeof one);
}

Run::Run(const sg_host* host, sg_call* call, const sg_watch_target* target, sg_watch_sink* sink)
    : root_path(text_of(target->local_root)),
      host_(host),
      call_(call),
      sink_(sink),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  for (size_t i = 0; i < target->ignore_count; ++i) ignore_.push_back(text_of(target->ignore[i]));
}

bool Run::ignored(std::string_view named) const {
  return std::find(ignore_.begin(), ignore_.end(), named) != ignore_.end();
}

sg_status Run::fail(sg_status status, const std::string& text) {
  return host_->fail(host_, call_, status, 0, sg_str{"", 0}, sg_str{text.data(), text.size()});
}

std::string Run::resolve_root() {
  if (!wake_) return std::string("cannot make an eventfd: ") + std::strerror(errno);
  char* real = ::realpath(root_path.c_str(), nullptr);
  if (!real) return "cannot watch " + root_path + ": " + std::strerror(errno);
  root_path = real;
  std::free(real);
  const size_t slash = root_path.rfind('/');
  if (root_path.size() > 1) {
    above_path = slash == 0 ? "/" : root_path.substr(0, slash);
    name = root_path.substr(slash + 1);
  }
  return {};
}

sg_status Run::run() {
  std::string why = resolve_root();
  if (!why.empty()) return fail(SG_E_FAILED, why);
  auto group = Group::of(root_path, why);
  if (!group) return fail(SG_E_UNSUPPORTED, why);
  {
    std::lock_guard lock(mutex_);
    group_ = group;
  }
  const struct Leave {
    Run& run;
    Group& group;
    ~Leave() { run.leave(group); }
  } leaves{*this, *group};
  why = group->join(*this);
  if (!why.empty()) return fail(SG_E_FAILED, why);
  sink_->ready(sink_);
  const sg_status status = wait();
  return status == SG_E_CANCELLED ? SG_OK : status;
}

void Run::leave(Group& group) {
  group.leave(*this);
  std::lock_guard lock(mutex_);
  over_ = true;
  group_.reset();
  for (const Answer& answer : waiting_) signal_fd(answer->get());
}

// Until the call is cancelled and what was queued by then is told, or the sink wants no more.
sg_status Run::wait() {
  Answer last;
  for (;;) {
    pollfd fds[] = {{wake_.get(), POLLIN, 0}, {last ? last->get() : call_->cancel_fd, POLLIN, 0}};
    if (::poll(fds, 2, -1) < 0 && errno != EINTR)
      return fail(SG_E_FAILED, std::string("poll: ") + std::strerror(errno));
    if (fds[0].revents) {
      uint64_t count;
      [[maybe_unused]] const ssize_t n = ::read(wake_.get(), &count, sizeof count);
    }
    std::unique_lock lock(mutex_);
    while (!delivering_ && (!pending_.empty() || !to_answer_.empty())) {
      sending_.take(pending_);
      const auto answers = std::move(to_answer_);
      to_answer_.clear();
      deliver(lock, sending_);
      give(answers);
    }
    if (ended_ != SG_OK) return ended_;
    if (!failure_.empty()) {
      const std::string text = failure_;
      lock.unlock();
      return fail(SG_E_FAILED, text);
    }
    lock.unlock();
    if (!fds[1].revents) continue;
    if (last) return SG_OK;
    last = std::make_shared<Fd>(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!*last) return SG_OK;
    {
      std::lock_guard again(mutex_);
      waiting_.push_back(last);
    }
    group_->ask(*this, last);
  }
}

// ---- From the reader --------------------------------------------------------

void Run::hand_over(Hints& told, std::vector<Answer> answers, bool alone) {
  std::unique_lock lock(mutex_);
  if (alone && !delivering_ && pending_.empty() && to_answer_.empty()) {
    deliver(lock, told);
    give(answers);
    // What was put aside meanwhile, and the end, are for run().
    if (ended_ != SG_OK || !pending_.empty() || !to_answer_.empty()) signal_fd(wake_.get());
    return;
  }
  pending_.take(told);
  if (pending_.size() > kMostPending) pending_.lose_all();
  for (Answer& answer : answers) to_answer_.push_back(std::move(answer));
  signal_fd(wake_.get());
}

void Run::deliver(std::unique_lock<std::mutex>& lock, Hints& told) {
  if (told.empty() || ended_ != SG_OK) return;
  delivering_ = true;
  lock.unlock();
  const sg_status status = told.send(sink_);
  lock.lock();
  delivering_ = false;
  if (status != SG_OK) ended_ = status;
}

void Run::give(std::vector<Answer> answers) {
  for (const Answer& answer : answers) {
    signal_fd(answer->get());
    std::erase(waiting_, answer);
  }
}

void Run::fail_with(const std::string& why) {
  std::lock_guard lock(mutex_);
  failure_ = why;
  signal_fd(wake_.get());
}

// ---- For the host -----------------------------------------------------------

sg_status Run::flush(sg_call* call) {
  const auto done = std::make_shared<Fd>(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!*done) return SG_E_FAILED;
  std::shared_ptr<Group> group;
  {
    std::lock_guard lock(mutex_);
    if (over_ || !group_) return SG_E_LOST;
    group = group_;
    waiting_.push_back(done);
  }
  group->ask(*this, done);
  group.reset();
  const sg_status status = host_->wait(host_, call, done->get(), SG_WAIT_READ, -1);
  std::lock_guard lock(mutex_);
  const bool unmet = std::erase(waiting_, done) > 0;
  return status == SG_OK && unmet ? SG_E_LOST : status;
}

void Run::say_state(const char* mode, const char* reason, size_t sandboxes) {
  const std::string json = "{\"mode\":\"" + std::string(mode) + "\",\"reason\":\"" + reason +
                           "\",\"writers\":true,\"watches\":" + std::to_string(dirs) +
                           ",\"blind\":" + std::to_string(blind) +
                           ",\"sandboxes\":" + std::to_string(sandboxes) + "}";
  sink_->state(sink_, sg_str{json.data(), json.size()});
}

}  // namespace fanotify_watcher
