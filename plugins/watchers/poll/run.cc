#include "run.h"

#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace poll {

using sandglass::bytes;
using sandglass::Error;

namespace {

constexpr int kFailures = 3;   // in a row, before people are told
constexpr uint64_t kRest = 4;  // a look is followed by a rest of at least so many times its length
constexpr int kMostRestMs = 60'000;

std::vector<std::string> ignore_of(sandglass::WatchTarget target) {
  std::vector<std::string> names;
  for (size_t i = 0; i < target.ignore_count(); i++) names.emplace_back(target.ignore(i));
  return names;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + "\"";
}

}  // namespace

Fd::Fd() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (fd_ < 0) throw Error(SG_E_FAILED, "no descriptor is left to wait with");
}
Fd::~Fd() {
  ::close(fd_);
}
void Fd::signal() const {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = ::write(fd_, &one, sizeof one);
}
void Fd::quiet() const {
  uint64_t count;
  [[maybe_unused]] const ssize_t n = ::read(fd_, &count, sizeof count);
}

Run::Run(sandglass::Host host, sandglass::WatchTarget target, sandglass::WatchSink sink)
    : host_(host),
      sink_(sink),
      local_root_(target.local_root()),
      interval_ns_(uint64_t{target.interval_ms()} * 1'000'000),
      ignore_(ignore_of(target)),
      box_(host, target) {}

void Run::run(sandglass::Call call) {
  const std::shared_ptr<void> at_the_end(nullptr, [this](void*) { end(); });
  find_.emplace(box_, call, ignore_);
  for (int tries = 1; !look(call); tries++)
    if (tries == kFailures) throw Error(SG_E_FAILED, why_);
  sink_.ready();
  for (;;) {
    if (call.wait(wake_.get(), SG_WAIT_READ, rest_ms())) wake_.quiet();
    const Waiters now = waiters();
    bool done = look(call);
    for (int tries = 1; !done && !now.empty() && tries < kFailures; tries++) done = look(call);
    answer(now, done ? "" : why_);
  }
}

int Run::rest_ms() const {
  const uint64_t rest = std::max(interval_ns_, kRest * took_ns_);
  const uint64_t now = host_.now_ns(), due = ended_ns_ + rest;
  const uint64_t left = due > now ? (due - now + 999'999) / 1'000'000 : 0;
  return static_cast<int>(std::min<uint64_t>(left, kMostRestMs));
}

// ---- Flush ------------------------------------------------------------------

void Run::flush(sandglass::Call call) {
  const auto waiter = std::make_shared<Waiter>();
  {
    const std::lock_guard lock(mutex_);
    if (over_) throw Error(SG_E_LOST, "nothing looks at this sandbox any more");
    waiting_.push_back(waiter);
  }
  wake_.signal();
  call.wait(waiter->done.get(), SG_WAIT_READ, -1);
  const std::lock_guard lock(mutex_);
  if (!waiter->why.empty()) throw Error(SG_E_FAILED, waiter->why);
}

Run::Waiters Run::waiters() {
  const std::lock_guard lock(mutex_);
  return std::exchange(waiting_, {});
}

void Run::answer(const Waiters& waiters, const std::string& why) {
  const std::lock_guard lock(mutex_);
  for (const auto& waiter : waiters) {
    waiter->why = why;
    waiter->done.signal();
  }
}

void Run::end() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  answer(waiters(), "the watcher ended");
}

// ---- Looking ----------------------------------------------------------------

// A look that fails tells nothing.
bool Run::look(sandglass::Call call) {
  const uint64_t began = host_.now_ns();
  try {
    look_once(call);
    if (failures_ >= kFailures) host_.info("polling works again");
    failures_ = 0;
    why_.clear();
  } catch (const Error& error) {
    if (call.cancelled() || error.status() == SG_E_CANCELLED) throw;
    failed(error.what());
  }
  ended_ns_ = host_.now_ns();
  took_ns_ = ended_ns_ - began;
  return why_.empty();
}

void Run::failed(const std::string& why) {
  why_ = why;
  find_.reset();  // the tools may be others by now
  if (++failures_ != kFailures) return;
  host_.warn("polling fails, changes are not seen meanwhile: " + why);
  say_state("failing", why);
}

// Nothing where the root is gone. A box that is a directory of this machine goes with it.
std::optional<Said> Run::ask(sandglass::Call call) {
  try {
    if (!find_) find_.emplace(box_, call, ignore_);
    Said said = box_.run(call, find_->command());
    const bool gone =
        said.how == SG_EXIT_BAD_CWD && (said.value == ENOENT || said.value == ENOTDIR);
    return gone ? std::nullopt : std::optional(std::move(said));
  } catch (const NoRoot&) {
    return std::nullopt;
  } catch (const Error& error) {
    struct stat st {};
    if (error.status() == SG_E_LOST && !local_root_.empty() &&
        ::lstat(local_root_.c_str(), &st) < 0 && errno == ENOENT)
      return std::nullopt;
    throw;
  }
}

void Run::look_once(sandglass::Call call) {
  const uint64_t began = host_.now_ns();
  std::optional<Said> answer = ask(call);
  if (!answer) return tell_gone();
  Said& said = *answer;
  if (said.how == SG_EXIT_NOT_FOUND) throw Error(SG_E_FAILED, "find is not there any more");
  const Look look(*find_, std::move(said), began, host_.now_ns());
  const std::vector<std::string> written = recent_.compare(look, box_, call);
  tell(look);
  tell_written(written);
  gone_ = false;
  std::string reason = find_->tools();
  if (!recent_.tool().empty()) reason += ", " + recent_.tool();
  if (recent_.blind())
    reason += ", and nothing to hash with: a second write within one tick of the clock is not seen";
  if (const size_t part = look.incomplete())
    reason += "; " + std::to_string(part) + " directories cannot be read";
  say_state("polling", reason);
}

// ---- Telling ----------------------------------------------------------------

static void stop_unless(bool goes_on) {
  if (!goes_on) throw Error(SG_E_CANCELLED, "the host wants no more", SG_FAIL_QUIET);
}

void Run::tell(const Look& look) {
  std::vector<sg_entry> entries;
  entries.reserve(look.records().size());
  std::vector<const sg_entry*> pointers;
  pointers.reserve(look.records().size());
  std::vector<sg_listing> listings;
  listings.reserve(look.directories().size());
  std::vector<const sg_listing*> all;
  for (const Directory& directory : look.directories()) {
    const size_t first = pointers.size();
    for (const Record* record : directory.entries) {
      sg_entry entry{};
      entry.struct_size = sizeof entry;
      entry.type = static_cast<uint32_t>(record->type);
      entry.mode = record->mode;
      entry.size = record->size;
      entry.inode = record->inode;
      entry.mtime_ns = record->mtime_ns;
      entry.ctime_ns = record->ctime_ns;
      entry.name = bytes(record->name());
      pointers.push_back(&entries.emplace_back(entry));
    }
    listings.push_back({sizeof(sg_listing), directory.complete ? 1u : 0u, bytes(directory.path),
                        pointers.data() + first, pointers.size() - first});
    all.push_back(nullptr);
  }
  std::transform(listings.begin(), listings.end(), all.begin(),
                 [](const sg_listing& one) { return &one; });
  stop_unless(sink_.listings(all.data(), all.size()));
}

void Run::tell_gone() {
  stop_unless(sink_.listing("", nullptr, 0, true));
  if (!gone_) say_state("gone", "the root was removed or renamed; waiting for it to come back");
  gone_ = true;
}

void Run::tell_written(const std::vector<std::string>& paths) {
  std::vector<sg_hint> hints(paths.size());
  std::vector<const sg_hint*> all;
  for (size_t i = 0; i < paths.size(); i++) {
    hints[i].struct_size = sizeof(sg_hint);
    hints[i].kind = SG_HINT_CHANGED;
    hints[i].flags = SG_HINTF_DATA;
    hints[i].pidfd = -1;
    hints[i].path = bytes(paths[i]);
    all.push_back(&hints[i]);
  }
  if (!all.empty()) stop_unless(sink_.hints(all.data(), all.size()));
}

void Run::say_state(const char* mode, const std::string& reason) {
  sink_.state("{\"mode\":\"" + std::string(mode) + "\",\"reason\":" + quoted(reason) +
              ",\"intervalMs\":" + std::to_string(interval_ns_ / 1'000'000) +
              ",\"lookMs\":" + std::to_string(took_ns_ / 1'000'000) + "}");
}

}  // namespace poll
