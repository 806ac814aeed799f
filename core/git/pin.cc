#include "git/pin.h"

#include <fcntl.h>
#include <linux/ioprio.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>

#include "base/below.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "git/copy.h"
#include "git/repositories.h"

namespace sandglass::git {

namespace {

constexpr std::array<std::string_view, 5> kWords = {"none", "linked", "held", "copied", "partial"};
constexpr int64_t kMs = 1'000'000;
constexpr int kPauseUs = 2'000;

// Only when nothing else wants the processor or the disk.
void set_idle(int thread, bool idle) {
  const sched_param none{};
  ::sched_setscheduler(thread, idle ? SCHED_IDLE : SCHED_OTHER, &none);
  const int of_class = idle ? IOPRIO_CLASS_IDLE : IOPRIO_CLASS_NONE;
  ::syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, thread, IOPRIO_PRIO_VALUE(of_class, 0));
}

}  // namespace

std::string_view name_of(PinWord word) {
  return kWords[static_cast<size_t>(word)];
}

PinState pin_state(const std::string& folder) {
  PinState out;
  if (folder.empty()) return out;
  const Result<Root> root = Root::open(folder);
  const Result<FileBytes> file = root ? root->read("state", 4096) : fail(Fault::not_found, "");
  if (!file) return out;
  const std::string_view text = std::string_view(file->bytes).substr(0, file->bytes.find('\n'));
  const size_t space = text.find(' ');
  for (size_t i = 0; i < kWords.size(); i++)
    if (text.substr(0, space) == kWords[i]) out.word = static_cast<PinWord>(i);
  if (space != std::string_view::npos) out.why = text.substr(space + 1);
  return out;
}

void write_pin_state(const std::string& folder, const PinState& state) {
  const std::string file = folder + "/state", fresh = folder + "/tmp-state";
  const Fd fd(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  const std::string text =
      std::string(name_of(state.word)) + (state.why.empty() ? "" : " " + state.why) + "\n";
  if (!fd || !write_all(fd.get(), text) || ::rename(fresh.c_str(), file.c_str()) < 0)
    log::error("the state of the pinned baseline cannot be written below " + shown(folder));
}

std::unique_ptr<Pin> Pin::resume(const Baseline& baseline) {
  std::unique_ptr<Pin> out(new Pin(baseline));
  const PinState state = pin_state(baseline.pin);
  std::error_code code;
  if (state.word == PinWord::copied) std::filesystem::remove_all(baseline.pin + "/links", code);
  if (state.word != PinWord::linked && state.word != PinWord::held) return out;
  const auto objects = open_objects(baseline);
  if (!objects) return out;
  const auto add = [&](const std::string& commit, const std::string& prefix) {
    if (const auto id = parse_oid(commit))
      out->sources_.push_back({std::make_unique<Snapshot>(*objects, *id), prefix});
  };
  add(baseline.commit, baseline.prefix);
  for (const Nested& one : baseline.nested) add(one.commit, "");
  return out;
}

void Pin::start() {
  if (sources_.empty() || baseline_.pin.empty() || thread_.joinable()) return;
  thread_ = std::thread([this] {
    tid_ = static_cast<int>(::syscall(SYS_gettid));
    set_idle(0, !stop_);
    std::vector<CopySource> sources;
    for (const Source& one : sources_) sources.push_back({one.snapshot.get(), one.prefix});
    copy_objects(baseline_.pin, sources, [&] { return stop_.load(); });
    done_ = true;
  });
}

// An idle thread may not run at all for long: who waits for it lends it an ordinary priority.
void Pin::copy(int timeout_ms) {
  const int64_t end = mono_ns() + timeout_ms * kMs;
  while (thread_.joinable() && !done_ && mono_ns() < end) {
    if (tid_ > 0) set_idle(tid_, false);
    ::usleep(kPauseUs);
  }
}

void Pin::finish(int timeout_ms) {
  if (!thread_.joinable()) return;
  if (pin_state(baseline_.pin).word == PinWord::held) {
    copy(timeout_ms);
    if (!done_)
      log::error(
          "the baseline could not be copied in time: once the repository's own objects are "
          "gone, before() and diff() of this run stay empty");
  }
  stop_ = true;
  if (tid_ > 0 && !done_) set_idle(tid_, false);
  thread_.join();
}

Pin::~Pin() {
  stop_ = true;
  if (!thread_.joinable()) return;
  if (tid_ > 0 && !done_) set_idle(tid_, false);
  thread_.join();
}

}  // namespace sandglass::git
