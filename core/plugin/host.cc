#include "plugin/host.h"

#include <poll.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "plugin/call_state.h"

namespace sandglass::plugin {
namespace {

constexpr size_t kMostLogText = 1 << 20;
constexpr uint64_t kProgressEvery = 1'000'000'000;
constexpr int64_t kRetire = 1'000'000'000;
constexpr int64_t kSlice = 20'000'000;  // of a wait that has no descriptor for cancellation

// A plugin's text may hold names from a sandbox. Its line breaks, tabs and backslashes are its own.
std::string safe_text(std::string_view text) {
  const size_t left = text.size() > kMostLogText ? text.size() - kMostLogText : 0;
  text = text.substr(0, kMostLogText);
  std::string out;
  out.reserve(text.size());
  for (;;) {
    const size_t at = std::min(text.find_first_of("\n\t\\"), text.size());
    out += shown(text.substr(0, at));
    if (at == text.size()) break;
    out += text[at];
    text.remove_prefix(at + 1);
  }
  if (left > 0) out += " (and " + std::to_string(left) + " bytes more)";
  return out;
}

log::Level level_of(uint32_t level) {
  return static_cast<log::Level>(std::min<uint32_t>(level, SG_LOG_ERROR));
}

void say(const sg_host* host, uint32_t level, const char* category, sg_str text) {
  const Host::Use use(host);
  if (!use) return;
  const Host& me = Host::of(host);
  const log::Level at = level_of(level);
  if (at == log::Level::error) return log::error(me.instance_name() + ": " + safe_text(view(text)));
  const std::string of = category ? shown(category) : me.category();
  if (!log::enabled(at, of)) return;
  const std::string line = safe_text(view(text));
  log::write(at, of, at == log::Level::warn ? me.instance_name() + ": " + line : line);
}

uint32_t says(const sg_host* host, uint32_t level, const char* category) {
  const Host::Use use(host);
  if (!use) return 0;
  return log::enabled(level_of(level), category ? category : Host::of(host).category());
}

sg_status fail_slot(const sg_host* host, sg_call* call, sg_status status, uint32_t flags,
                    sg_str where, sg_str text) {
  const Host::Use use(host);
  if (!use) return status;
  try {
    return fail_call(host, call, status, flags, view(where), view(text));
  } catch (...) {
    return SG_E_NO_MEMORY;
  }
}

uint32_t cancelled(const sg_host* host, const sg_call* call) {
  const Host::Use use(host);
  if (!use) return 1;
  return call && Call::State::of(call).over() ? 1 : 0;
}

// Nanoseconds until the limit of a wait, or -1 for none.
int64_t time_left(const sg_call* call, int64_t until) {
  const int64_t now = mono_ns();
  if (call && call->deadline_ns != 0)
    until = std::min(until, static_cast<int64_t>(std::min<uint64_t>(call->deadline_ns, INT64_MAX)));
  return until == INT64_MAX ? -1 : std::max<int64_t>(until - now, 0);
}

short poll_events(uint32_t events) {
  return static_cast<short>((events & SG_WAIT_READ ? POLLIN : 0) |
                            (events & SG_WAIT_WRITE ? POLLOUT : 0));
}

sg_status wait_slot(const sg_host* host, sg_call* call, int32_t fd, uint32_t events,
                    int32_t timeout_ms) {
  const Host::Use use(host);
  if (!use) return SG_E_CANCELLED;
  const int64_t until = timeout_ms < 0 ? INT64_MAX : mono_ns() + int64_t{timeout_ms} * 1'000'000;
  const int cancel_fd = call ? call->cancel_fd : -1;
  for (;;) {
    if (call && Call::State::of(call).stopped()) return SG_E_CANCELLED;
    const int64_t left = time_left(call, until);
    int64_t turn = left;
    if (call && cancel_fd < 0) turn = left < 0 ? kSlice : std::min(left, kSlice);
    timespec limit{turn / 1'000'000'000, turn % 1'000'000'000};
    pollfd both[2] = {{fd, poll_events(events), 0}, {cancel_fd, POLLIN, 0}};
    const int ready = ::ppoll(both, 2, turn < 0 ? nullptr : &limit, nullptr);
    if (ready < 0 && errno != EINTR) return SG_E_FAILED;
    if (ready > 0 && both[1].revents) return SG_E_CANCELLED;
    if (ready > 0) return both[0].revents & POLLNVAL ? SG_E_INVALID : SG_OK;
    if (ready == 0 && turn == left) return SG_E_TIMEOUT;
  }
}

void progress(const sg_host* host, sg_call* call, uint64_t done, uint64_t total, sg_str what) {
  guarded(host, call, [&]() -> sg_status {
    const Host& me = Host::of(host);
    if (me.services().progress) {
      me.services().progress(call, done, total, view(what));
      return SG_OK;
    }
    if (!call) return SG_OK;
    auto& state = Call::State::of(call);
    const auto now = static_cast<uint64_t>(mono_ns());
    const bool ends = total != 0 && done >= total;
    if (!ends && state.progress_ns != 0 && now - state.progress_ns < kProgressEvery) return SG_OK;
    state.progress_ns = now;
    log::info(me.instance_name() + ": " + safe_text(view(what)) + " " + std::to_string(done) +
              (total ? " of " + std::to_string(total) : ""));
    return SG_OK;
  });
}

uint64_t next_number() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

const void* service(const sg_host* host, const char* id) {
  const Host::Use use(host);
  return use && id ? Host::of(host).find_service(id) : nullptr;
}

void fill_table(sg_host& table) {
  table.struct_size = sizeof(sg_host);
  table.abi_major = SG_ABI_MAJOR;
  table.abi_minor = SG_ABI_MINOR;
  table.name = "sandglass";
  table.version = SANDGLASS_VERSION;
  table.service = service;
  table.log = say;
  table.log_enabled = says;
  table.now_ns = [](const sg_host*) { return static_cast<uint64_t>(mono_ns()); };
  table.time_ms = [](const sg_host*) { return wall_ns() / 1'000'000; };
  table.fail = fail_slot;
  table.cancelled = cancelled;
  table.wait = wait_slot;
  table.progress = progress;
  fill_config_getters(table);
}

}  // namespace

Host::Host(std::string named, std::string category, config::Value with, HostServices services)
    : sg_host{},
      number_(next_number()),
      name_(std::move(named)),
      category_(std::move(category)),
      config_{std::move(with), {}},
      services_(std::move(services)) {
  if (config_.value.kind == config::Kind::null) {
    config::Value empty = config::Value::make_map();
    empty.place = config_.value.place;
    config_.value = std::move(empty);
  }
  config_.json = config_.value.to_json();
  event_ = event_service(services_);
  sandbox_ = sandbox_service(services_);

  fill_table(*this);
}

const void* Host::find_service(std::string_view id) const {
  if (id == SG_SERVICE_PROCESS) return &process_service;
  if (id == SG_SERVICE_EVENT)
    return event_.content || event_.stream || event_.emit || event_.end_run ? &event_ : nullptr;
  if (id == SG_SERVICE_SANDBOX) return sandbox_.exec || sandbox_.read ? &sandbox_ : nullptr;
  return nullptr;
}

void Host::retire(std::string who) {
  who_ = std::move(who);
  retired_ = true;
  const int64_t end = mono_ns() + kRetire;
  while (users_ > 0) {
    if (mono_ns() > end) return;  // it keeps what it looks at
    ::poll(nullptr, 0, 1);
  }
  services_ = {};
  config_ = {};
}

Host::Use::Use(const sg_host* host) : host_(Host::of(host)) {
  host_.users_++;  // before the look at retired_: retire() waits for who has seen it unset
  retired_ = host_.retired_;
  if (retired_ && !host_.said_.exchange(true))
    log::error(host_.who_ +
               " uses its sg_host after destroy(): a thread of its own still runs; nothing is done "
               "for it any more");
}

std::string Host::place_of(std::string_view key) const {
  std::string pointer;
  for (char c : key)
    pointer += pointer.empty() ? std::string("/") + c : std::string(1, c == '.' ? '/' : c);
  // The nearest that is there: a key may be missing, and that is what is wrong with it.
  const config::Value* value = config_.value.at_pointer(pointer);
  while (!value && !pointer.empty()) {
    pointer.resize(pointer.rfind('/'));
    value = config_.value.at_pointer(pointer);
  }
  const std::string place = value ? value->place.text() : std::string();
  return (place.empty() ? "" : place + ": ") + shown(key);
}

void Host::complain(std::string text) {
  std::lock_guard lock(mutex_);
  if (!starting_) return log::error(name_ + ": " + text);
  if (complaint_.empty()) complaint_ = std::move(text);
}

std::string Host::take_complaint() {
  std::lock_guard lock(mutex_);
  starting_ = false;
  return std::exchange(complaint_, {});
}

sg_status fail_call(const sg_host* host, sg_call* call, sg_status status, uint32_t flags,
                    std::string_view where, std::string_view text) {
  const Host& me = Host::of(host);
  std::string full = safe_text(text);
  if (!where.empty()) full = me.place_of(where) + ": " + full;
  if (!call) {
    log::write(flags & SG_FAIL_QUIET ? log::Level::debug : log::Level::error,
               flags & SG_FAIL_QUIET ? me.category() : "errors", me.instance_name() + ": " + full);
    return status;
  }
  auto& state = Call::State::of(call);
  state.status = status;
  state.flags = flags;
  state.text = std::move(full);
  return status;
}

}  // namespace sandglass::plugin
