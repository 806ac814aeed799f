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
  Running(std::shared_ptr<plugin::Instance> instance, const Target& t, Sink sink, Choice c)
      : watcher(std::move(instance)),
        methods(watcher->methods<sg_watcher>()),
        lists((watcher->type().flags & SG_TYPE_LISTS) != 0),
        target(t),
        choice(std::move(c)),
        feed(target, std::move(sink), lists),
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
  const bool lists;
  const Target target;
  const Choice choice;
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
  bool tells_writers() const override;
  std::string state_json() const override;

 private:
  Status prove(int64_t deadline_ns);
  Status make_canary(const std::string& name, int64_t deadline_ns);
  void remove_canary(const std::string& name, int64_t deadline_ns);
  Status flush_watcher(int timeout_ms);
  void end(int64_t deadline_ns);

  std::shared_ptr<Running> running_;
  std::thread thread_;
  bool armed_ = false, stopped_ = false;
};

Status LiveSession::arm(int64_t deadline_ns) {
  if (auto ready = running_->feed.wait_ready(deadline_ns); !ready) return ready;
  if (auto proven = prove(deadline_ns); !proven) return proven;
  // One that lists has looked since the file was made, and tells what came later as changes.
  if (!running_->lists)
    if (auto flushed = flush_watcher(ms_until(deadline_ns)); !flushed) return flushed;
  running_->feed.go_live();
  armed_ = true;
  log::debug("sandbox", running_->target.sandbox_id + ": watcher " + running_->watcher->name() +
                            " started on " + shown(running_->target.local_root));
  return {};
}

Status LiveSession::make_canary(const std::string& name, int64_t deadline_ns) {
  const Target& target = running_->target;
  if (target.local_root.empty()) return target.run({"touch", "./" + name}, deadline_ns);
  auto root = Root::open(target.local_root);
  if (!root) return tl::unexpected(root.error());
  Fd file(::openat(root->fd(), name.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC,
                   0600));
  if (!file) return fail_errno(errno, "cannot write " + shown(target.local_root));
  return {};
}

void LiveSession::remove_canary(const std::string& name, int64_t deadline_ns) {
  const Target& target = running_->target;
  if (target.local_root.empty()) {
    if (auto gone = target.run({"rm", "-f", "./" + name}, deadline_ns); !gone)
      log::warn("the file " + name + " was left in the sandbox: " + gone.error().text);
  } else if (auto root = Root::open(target.local_root)) {
    ::unlinkat(root->fd(), name.c_str(), 0);
  }
}

// Makes a file, which the watcher must tell of, and removes it: not before, or one that polls could
// never see it. Not asked for where the root cannot be written.
Status LiveSession::prove(int64_t deadline_ns) {
  const Target& target = running_->target;
  if (target.local_root.empty() && !target.run) return {};
  const std::string name = ".sandglass-" + random_hex(8);
  running_->feed.expect(name);
  if (auto made = make_canary(name, deadline_ns); !made) {
    log::debug("sandbox", "the watcher was not tried: " + made.error().text);
    return {};
  }
  // One that polls is asked to look now.
  Status looked = running_->lists ? flush_watcher(ms_until(deadline_ns)) : Status{};
  const int64_t looks_ns = running_->lists ? 0 : kCanaryLooks * target.interval_ms * 1'000'000;
  const bool told = looked && running_->feed.wait_expected(
                                  std::min(deadline_ns, mono_ns() + std::max(kCanaryNs, looks_ns)));
  remove_canary(name, deadline_ns);
  if (told) return {};
  if (!looked) return looked;
  const std::string where = target.local_root.empty() ? target.root : target.local_root;
  return fail(Fault::unsupported, "the watcher " + running_->watcher->name() +
                                      " did not tell of a file made in " + shown(where) +
                                      ": it cannot be trusted there");
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

bool LiveSession::tells_writers() const {
  const auto told = nlohmann::json::parse(running_->feed.watcher_state(), nullptr, false);
  return told.is_object() && told.value("writers", nlohmann::json(false)) == true;
}

std::string LiveSession::state_json() const {
  const Feed::Numbers numbers = running_->feed.numbers();
  nlohmann::json state = nlohmann::json::object();
  const auto told = nlohmann::json::parse(running_->feed.watcher_state(), nullptr, false);
  if (told.is_object()) state = told;
  state["watcher"] = running_->watcher->type().name;
  if (!running_->choice.why.empty()) state["why"] = running_->choice.why;
  for (const Choice::Passed& one : running_->choice.passed)
    state["passed"].push_back({{"watcher", one.watcher}, {"reason", one.reason}});
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
                                                Target target, Sink sink, int timeout_ms,
                                                Choice choice) {
  const int64_t deadline = mono_ns() + int64_t{timeout_ms} * 1'000'000;
  auto running =
      std::make_shared<Running>(std::move(watcher), target, std::move(sink), std::move(choice));
  if (!running->methods.run)
    return fail(Fault::plugin, "the watcher " + running->watcher->name() + " has no run()");
  auto session = std::make_unique<LiveSession>(running);
  if (auto armed = session->arm(deadline); !armed) {
    session->stop(1000);
    return tl::unexpected(armed.error());
  }
  return session;
}

std::string describe(const std::string& state_json) {
  const auto state = nlohmann::json::parse(state_json, nullptr, false);
  if (!state.is_object()) return {};
  const auto text = [&](const nlohmann::json& of, const char* key) {
    const auto it = of.find(key);
    return it != of.end() && it->is_string() ? it->get<std::string>() : std::string();
  };
  std::string out = text(state, "mode");
  if (const std::string reason = text(state, "reason"); !reason.empty())
    out += (out.empty() ? "" : ": ") + reason;
  if (const std::string why = text(state, "why"); !why.empty()) out += "; " + why;
  for (const auto& one : state.value("passed", nlohmann::json::array()))
    out += ", " + text(one, "watcher") + ": " + text(one, "reason");
  return out;
}

}  // namespace sandglass::watch
