#include "watch/session.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "base/below.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/text.h"
#include "watch/feed.h"

namespace sandglass::watch {

namespace {

constexpr int kEndMs = 5'000;
constexpr int64_t kCanaryNs = 2'000'000'000;
constexpr int64_t kCanaryLooks = 3;  // of a watcher that polls

sg_bytes bytes_of(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

int ms_until(int64_t deadline_ns) {
  return static_cast<int>(std::max<int64_t>(0, (deadline_ns - mono_ns()) / 1'000'000));
}

// The watcher's run() and all it may touch. Its thread holds a share, so that a watcher that does
// not return can be left behind.
struct Running {
  Running(std::shared_ptr<plugin::Instance> instance, const Target& t, Sink sink)
      : watcher(std::move(instance)),
        methods(watcher->methods<sg_watcher>()),
        target(t),
        feed(target, std::move(sink)),
        call({target.sandbox_id, 0, nullptr}) {
    for (const std::string& name : target.ignore) ignore.push_back(bytes_of(name));
    abi.struct_size = sizeof abi;
    abi.interval_ms = static_cast<uint32_t>(std::max(target.interval_ms, 1));
    abi.sandbox_id = {target.sandbox_id.data(), target.sandbox_id.size()};
    abi.root = bytes_of(target.root);
    abi.local_root = bytes_of(target.local_root);
    abi.ignore = ignore.data();
    abi.ignore_count = ignore.size();
  }

  void run() {
    Status status = watcher->call(
        call, [&](void* self) { return methods.run(self, call.abi(), &abi, feed.abi()); });
    feed.ended(status);
    std::lock_guard lock(mutex);
    over = true;
    over_told.notify_all();
  }

  const std::shared_ptr<plugin::Instance> watcher;
  const sg_watcher methods;
  const Target target;
  std::vector<sg_bytes> ignore;
  sg_watch_target abi{};
  Feed feed;
  plugin::Call call;
  std::mutex mutex;
  std::condition_variable over_told;
  bool over = false;
};

class LiveSession final : public Session {
 public:
  explicit LiveSession(std::shared_ptr<Running> running) : running_(std::move(running)) {
    thread_ = std::thread([running = running_] { running->run(); });
    ::pthread_setname_np(thread_.native_handle(), "sg-watcher");
  }
  ~LiveSession() override {
    if (auto stopped = stop(kEndMs); !stopped) log::error(stopped.error().text);
    end(mono_ns() + kEndMs * 1'000'000LL);
  }

  Status arm(int64_t deadline_ns);
  Status flush(int timeout_ms) override;
  Status audit(int timeout_ms) override;
  void set_backlogged(std::function<bool()> backlogged) override {
    running_->feed.set_backlogged(std::move(backlogged));
  }
  Status stop(int timeout_ms) override;
  std::string state_json() const override;

 private:
  Status prove(int64_t deadline_ns);
  Status flush_watcher(int timeout_ms);
  void end(int64_t deadline_ns);

  std::shared_ptr<Running> running_;
  std::thread thread_;
  bool armed_ = false, stopped_ = false;
};

Status LiveSession::arm(int64_t deadline_ns) {
  if (auto ready = running_->feed.wait_ready(deadline_ns); !ready) return ready;
  if (auto proven = prove(deadline_ns); !proven) return proven;
  if (auto flushed = flush_watcher(ms_until(deadline_ns)); !flushed) return flushed;
  running_->feed.go_live();
  armed_ = true;
  log::debug("sandbox", running_->target.sandbox_id + ": watcher " + running_->watcher->name() +
                            " started on " + shown(running_->target.local_root));
  return {};
}

// Makes a file, which the watcher must tell of, and removes it: not before, or one that polls could
// never see it. Not asked for where the tree is not on this machine or the root cannot be written.
Status LiveSession::prove(int64_t deadline_ns) {
  const Target& target = running_->target;
  if (target.local_root.empty()) return {};
  auto root = Root::open(target.local_root);
  if (!root) return tl::unexpected(root.error());
  const std::string name = ".sandglass-" + random_hex(8);
  running_->feed.expect(name);
  Fd file(::openat(root->fd(), name.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC,
                   0600));
  if (!file) {
    log::debug("sandbox", "the watcher was not tried, " + shown(target.local_root) +
                              " cannot be written: " + std::string(std::strerror(errno)));
    return {};
  }
  file.reset();
  const int64_t looks_ns = kCanaryLooks * target.interval_ms * 1'000'000;
  const bool told = running_->feed.wait_expected(
      std::min(deadline_ns, mono_ns() + std::max(kCanaryNs, looks_ns)));
  ::unlinkat(root->fd(), name.c_str(), 0);
  if (told) return {};
  return fail(Fault::unsupported,
              "the watcher " + running_->watcher->name() + " did not tell of a file made in " +
                  shown(target.local_root) + ": it cannot be trusted there; use a polling watcher");
}

Status LiveSession::flush_watcher(int timeout_ms) {
  if (!running_->methods.flush) return {};
  plugin::Call call(
      {running_->target.sandbox_id, mono_ns() + int64_t{timeout_ms} * 1'000'000, nullptr});
  return running_->watcher->call(call, [&](void* self) {
    const std::string& id = running_->target.sandbox_id;
    return running_->methods.flush(self, call.abi(), sg_str{id.data(), id.size()});
  });
}

Status LiveSession::flush(int timeout_ms) {
  Status flushed = flush_watcher(timeout_ms);
  running_->feed.release_held();
  return flushed;
}

Status LiveSession::audit(int timeout_ms) {
  Status flushed = flush_watcher(timeout_ms);
  running_->feed.audit();
  return flushed;
}

Status LiveSession::stop(int timeout_ms) {
  if (std::exchange(stopped_, true)) return {};
  Status done;
  if (armed_) done = audit(timeout_ms);
  running_->feed.close();
  running_->call.cancel();
  if (armed_)
    log::debug("sandbox",
               running_->target.sandbox_id + ": watcher " + running_->watcher->name() + " stopped");
  return done;
}

// Waits for run() to return. One that does not is left behind, and its instance with it.
void LiveSession::end(int64_t deadline_ns) {
  std::unique_lock lock(running_->mutex);
  const auto until =
      std::chrono::steady_clock::time_point(std::chrono::nanoseconds(deadline_ns + 100'000'000));
  if (running_->over_told.wait_until(lock, until, [&] { return running_->over; })) {
    lock.unlock();
    thread_.join();
    return;
  }
  lock.unlock();
  running_->watcher->abandon();
  thread_.detach();
  log::error("the watcher " + running_->watcher->name() +
             " did not stop in time; its thread was left behind");
}

std::string LiveSession::state_json() const {
  const Feed::Numbers numbers = running_->feed.numbers();
  nlohmann::json state = nlohmann::json::object();
  const auto told = nlohmann::json::parse(running_->feed.watcher_state(), nullptr, false);
  if (told.is_object()) state = told;
  state["watcher"] = running_->watcher->type().name;
  state["root"] = numbers.root_there ? "there" : "gone";
  state["files"] = numbers.files;
  state["dirs"] = numbers.dirs;
  state["held"] = numbers.held;
  state["blind"] = numbers.blind;
  state["rescans"] = numbers.rescans;
  return state.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

Result<std::unique_ptr<Session>> Session::start(std::shared_ptr<plugin::Instance> watcher,
                                                Target target, Sink sink, int timeout_ms) {
  const int64_t deadline = mono_ns() + int64_t{timeout_ms} * 1'000'000;
  auto running = std::make_shared<Running>(std::move(watcher), target, std::move(sink));
  if (!running->methods.run)
    return fail(Fault::plugin, "the watcher " + running->watcher->name() + " has no run()");
  auto session = std::make_unique<LiveSession>(running);
  if (auto armed = session->arm(deadline); !armed) {
    session->stop(1000);
    return tl::unexpected(armed.error());
  }
  return session;
}

}  // namespace sandglass::watch
