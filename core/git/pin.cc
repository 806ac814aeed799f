#include "git/pin.h"

#include <fcntl.h>
#include <linux/ioprio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "base/below.h"
#include "base/log.h"
#include "base/text.h"
#include "git/copy.h"
#include "git/repositories.h"

namespace sandglass::git {

namespace {

constexpr std::array<std::string_view, 5> kWords = {"none", "linked", "held", "copied", "partial"};
constexpr std::chrono::milliseconds kCalm(1'000);

// Behind others. Not SCHED_IDLE: on a busy machine such a thread hardly runs, nothing without
// privileges takes it back, and the end of the run would have to wait for it.
void be_modest() {
  const int self = static_cast<int>(::syscall(SYS_gettid));
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(self), 10);
  ::syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0));
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
  const bool modest = pin_state(baseline_.pin).word == PinWord::linked;
  thread_ = std::thread([this, modest] {
    if (modest) {
      be_modest();
      std::unique_lock lock(mutex_);  // a short run needs no copy
      wake_.wait_for(lock, kCalm, [&] { return stop_ || hurry_; });
    }
    std::vector<CopySource> sources;
    for (const Source& one : sources_) sources.push_back({one.snapshot.get(), one.prefix});
    if (!stop_) copy_objects(baseline_.pin, sources, [&] { return stop_.load(); });
    std::lock_guard lock(mutex_);
    done_ = true;
    wake_.notify_all();
  });
}

void Pin::copy(int timeout_ms) {
  if (!thread_.joinable()) return;
  std::unique_lock lock(mutex_);
  hurry_ = true;
  wake_.notify_all();
  wake_.wait_for(lock, std::chrono::milliseconds(timeout_ms), [&] { return done_; });
}

void Pin::finish(int timeout_ms) {
  if (!thread_.joinable()) return;
  if (pin_state(baseline_.pin).word == PinWord::held) {
    copy(timeout_ms);
    if (pin_state(baseline_.pin).word == PinWord::held)
      log::error(
          "the baseline could not be copied in time: once the repository's own objects are gone, "
          "before() and diff() of this run stay empty");
  }
  end();
}

Pin::~Pin() {
  end();
}

void Pin::end() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
    wake_.notify_all();
  }
  thread_.join();
}

}  // namespace sandglass::git
