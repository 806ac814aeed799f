#include "proc/processes.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <vector>

#include "base/clock.h"

namespace sandglass::proc {
namespace {

constexpr int kDeepest = 256;  // generations that are walked up

std::string joined(std::string_view arguments) {
  while (!arguments.empty() && arguments.back() == '\0') arguments.remove_suffix(1);
  std::string out(arguments);
  for (char& c : out)
    if (c == '\0') c = ' ';
  return out;
}

size_t read_file(int32_t pid, const char* name, char* room, size_t size) {
  const std::string path = "/proc/" + std::to_string(pid) + "/" + name;
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return 0;
  const ssize_t n = ::read(fd.get(), room, size);
  return n > 0 ? static_cast<size_t>(n) : 0;
}

std::string command_of(int32_t pid) {
  std::array<char, kCommandBytes> room;
  return joined({room.data(), read_file(pid, "cmdline", room.data(), room.size())});
}

// From /proc/PID/stat, whose second field may hold anything: parent, and start in ticks.
bool read_stat(int32_t pid, int32_t& ppid, uint64_t& start) {
  std::array<char, 1024> room;
  std::string_view text(room.data(), read_file(pid, "stat", room.data(), room.size()));
  const size_t name_end = text.rfind(')');
  if (name_end == text.npos) return false;
  text.remove_prefix(name_end + 1);
  for (int field = 3; field <= 22 && !text.empty(); ++field) {
    text.remove_prefix(1);
    const size_t end = std::min(text.find(' '), text.size());
    if (field == 4) std::from_chars(text.data(), text.data() + end, ppid);
    if (field == 22)
      return std::from_chars(text.data(), text.data() + end, start).ec == std::errc();
    text.remove_prefix(end);
  }
  return false;
}

}  // namespace

Result<std::shared_ptr<Processes>> Processes::open(Source wanted) {
  std::string why;
  auto make = [&](Source kind, std::unique_ptr<ProcessSource> source, const char* name) {
    const std::string reason = why.empty() ? name : std::string(name) + ": " + why;
    return std::shared_ptr<Processes>(new Processes(kind, std::move(source), reason));
  };
  if (wanted == Source::best || wanted == Source::bpf) {
    auto source = open_bpf_source();
    if (source) return make(Source::bpf, std::move(*source), "bpf");
    if (wanted == Source::bpf) return tl::unexpected(source.error());
    why = source.error().text;
  }
  if (wanted == Source::best || wanted == Source::connector) {
    auto source = open_connector_source();
    if (source) return make(Source::connector, std::move(*source), "connector");
    if (wanted == Source::connector) return tl::unexpected(source.error());
    why += "; " + source.error().text;
  }
  return make(Source::proc, nullptr, "proc");
}

std::shared_ptr<Processes> Processes::shared() {
  struct One {
    std::mutex mutex;
    std::weak_ptr<Processes> table;
  };
  static auto* one = new One;
  std::lock_guard lock(one->mutex);
  if (auto table = one->table.lock()) return table;
  auto table = *open(Source::best);
  one->table = table;
  return table;
}

Processes::Processes(Source kind, std::unique_ptr<ProcessSource> source, std::string reason)
    : source_kind_(kind), source_(std::move(source)), reason_(std::move(reason)) {
  if (source_) {
    read_all();
    if (auto wake = make_eventfd()) wake_ = std::move(*wake);
    sigset_t all, before;  // the host's signals are not for this thread
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { work(); });
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    ::pthread_setname_np(thread_.native_handle(), "sg-processes");
  }
  mark(::getpid(), kHost);
}

Processes::~Processes() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  if (!thread_.joinable()) return;
  signal_eventfd(wake_.get());
  thread_.join();
}

void Processes::work() {
  for (;;) {
    pollfd fds[] = {{source_->fd(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
    ::poll(fds, 2, -1);
    std::lock_guard lock(mutex_);
    if (stop_) return;
    drain();
  }
}

// ---- What the kernel tells --------------------------------------------------

void Processes::drain() {
  source_->drain([this](const ProcessEvent& event) { take(event); });
}

void Processes::take(const ProcessEvent& event) {
  switch (event.kind) {
    case ProcessEvent::Kind::fork: {
      Entry child;
      child.ppid = event.ppid;
      child.start_ns = event.at_ns;
      if (const Entry* parent = load(event.ppid, 0)) {
        child.label = parent->label;
        child.command = parent->command;
      }
      add(event.pid, std::move(child));
      return forget_old(event.at_ns);
    }
    case ProcessEvent::Kind::exec:
      if (Entry* entry = load(event.pid, 0))
        entry->command = std::make_shared<const std::string>(
            event.arguments.empty() ? command_of(event.pid) : joined(event.arguments));
      return;
    case ProcessEvent::Kind::exit:
      if (Entry* entry = newest(event.pid); entry && !entry->exit_ns) {
        entry->exit_ns = event.at_ns;
        gone_.push_back({event.at_ns, event.pid, entry->start_ns});
      }
      return forget_old(event.at_ns);
    case ProcessEvent::Kind::lost:
      return read_all();
  }
}

Processes::Entry& Processes::add(int32_t pid, Entry entry) {
  auto [it, first] = entries_.try_emplace(pid);
  if (!first) {
    Entry& before = it->second;
    if (!before.exit_ns) {  // its end was not heard of
      before.exit_ns = std::max<int64_t>(entry.start_ns, 1);
      gone_.push_back({before.exit_ns, pid, before.start_ns});
    }
    entry.older = std::make_unique<Entry>(std::move(before));
  }
  it->second = std::move(entry);
  return it->second;
}

Processes::Entry* Processes::newest(int32_t pid) {
  const auto it = entries_.find(pid);
  return it == entries_.end() ? nullptr : &it->second;
}

// The entry, read from /proc where the process runs and was not heard of.
Processes::Entry* Processes::load(int32_t pid, int depth) {
  if (Entry* known = newest(pid); known || pid <= 0) return known;
  Entry entry;
  uint64_t start = 0;
  if (depth > kDeepest || !read_stat(pid, entry.ppid, start)) return nullptr;
  if (const Entry* parent = load(entry.ppid, depth + 1)) entry.label = parent->label;
  entry.command = std::make_shared<const std::string>(command_of(pid));
  return &add(pid, std::move(entry));
}

void Processes::read_all() {
  DIR* all = ::opendir("/proc");
  if (!all) return;
  while (const dirent* entry = ::readdir(all))
    if (const int pid = std::atoi(entry->d_name); pid > 0) load(pid, 0);
  ::closedir(all);
}

void Processes::forget_old(int64_t now_ns) {
  while (!gone_.empty() && (gone_.size() > kKept || gone_.front().exit_ns + kKeptNs < now_ns)) {
    const Gone gone = gone_.front();
    gone_.pop_front();
    const auto it = entries_.find(gone.pid);
    if (it == entries_.end()) continue;
    const auto is_it = [&](const Entry& e) { return e.exit_ns && e.start_ns == gone.start_ns; };
    if (is_it(it->second)) {
      entries_.erase(it);  // older ones of the number went before
      continue;
    }
    for (Entry* at = &it->second; at->older; at = at->older.get()) {
      if (!is_it(*at->older)) continue;
      at->older = std::move(at->older->older);
      break;
    }
  }
}

// ---- What others ask --------------------------------------------------------

std::optional<Process> Processes::find(int32_t pid, int64_t at_ns) {
  if (pid <= 0) return std::nullopt;
  std::lock_guard lock(mutex_);
  if (!source_) return read_now(pid);
  drain();
  const Entry* entry = load(pid, 0);
  while (entry && at_ns && entry->start_ns > at_ns) entry = entry->older.get();
  if (!entry) return std::nullopt;
  return Process{pid,
                 entry->ppid,
                 entry->start_ns,
                 entry->exit_ns,
                 entry->label,
                 entry->command ? *entry->command : std::string()};
}

uint32_t Processes::new_label() {
  std::lock_guard lock(mutex_);
  return ++last_label_;
}

void Processes::mark(int32_t pid, uint32_t label) {
  std::lock_guard lock(mutex_);
  if (!source_) {
    int32_t ppid = 0;
    uint64_t start = 0;
    if (!read_stat(pid, ppid, start)) return;
    marked_[pid] = {start, label};
    // A process of its own between us and the command takes in what loses its parent.
    const int32_t between = ppid;
    const bool ours = between != ::getpid() && read_stat(between, ppid, start);
    if (ours && ppid == ::getpid()) marked_[between] = {start, label};
    return;
  }
  drain();
  Entry* top = load(pid, 0);
  if (!top) return;
  const uint32_t before = std::exchange(top->label, label);
  // What it started already: rarely anything, for a command is marked before it runs.
  std::vector<int32_t> parents{pid};
  while (!parents.empty()) {
    const int32_t parent = parents.back();
    parents.pop_back();
    for (auto& [child, entry] : entries_) {
      if (entry.ppid != parent || entry.label != before || child == parent) continue;
      entry.label = label;
      parents.push_back(child);
    }
  }
}

// Without a source: as long as the process and those above it are there.
std::optional<Process> Processes::read_now(int32_t pid) {
  Process out;
  uint64_t start = 0;
  if (!read_stat(pid, out.ppid, start)) return std::nullopt;
  out.pid = pid;
  out.command = command_of(pid);
  int32_t parent = out.ppid;
  for (int depth = 0; pid > 0 && depth < kDeepest; ++depth) {
    if (auto it = marked_.find(pid); it != marked_.end() && it->second.start == start) {
      out.label = it->second.label;
      break;
    }
    pid = parent;
    if (pid <= 0 || !read_stat(pid, parent, start)) break;
  }
  return out;
}

}  // namespace sandglass::proc
