#include "support/leftovers.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <thread>

#include "support/guard.h"

namespace sandglass::testing {
namespace {

namespace fs = std::filesystem;

// Opened once for the whole process, by the first who needs them.
struct Kept {
  const char* target;
  const char* why;
};
constexpr Kept kKept[] = {
    {"/memfd:sandglass-keep (deleted)", "the keeper's program, started once for each command"},
};

std::map<Left, std::string>& excused() {
  static std::map<Left, std::string> all;
  return all;
}

bool is_kept(const std::string& target) {
  for (const Kept& kept : kKept)
    if (target == kept.target) return true;
  return false;
}

std::map<int, std::string> descriptors() {
  std::map<int, std::string> out;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code code;
    const fs::path target = fs::read_symlink(entry.path(), code);
    if (!code) out.emplace(std::atoi(entry.path().filename().c_str()), target.string());
  }
  // The listing's own is closed by now.
  std::erase_if(out, [](const auto& one) { return one.second.ends_with("/fd"); });
  return out;
}

std::map<pid_t, std::string> threads() {
  std::map<pid_t, std::string> out;
  for (const auto& entry : fs::directory_iterator("/proc/self/task")) {
    std::ifstream in(entry.path() / "comm");
    std::string name;
    if (std::getline(in, name)) out.emplace(std::atoi(entry.path().filename().c_str()), name);
  }
  return out;
}

// Where every process of the machine may make files: only names that begin with ours count.
std::vector<std::string> shared_directories() {
  if (const char* given = std::getenv("SANDGLASS_TEST_SHARED_DIR")) return {given};
  return {"/tmp", "/dev/shm"};
}

std::set<std::string> files() {
  std::set<std::string> out;
  std::error_code code;
  for (const std::string& shared : shared_directories())
    for (const auto& entry : fs::directory_iterator(shared, code))
      if (entry.path().filename().string().starts_with("sandglass")) out.insert(entry.path());
  if (guard_pid())
    for (const auto& entry : fs::directory_iterator(std::getenv("TMPDIR"), code))
      out.insert(entry.path());
  return out;
}

using Lines = std::vector<std::string>;

void new_processes(const Present& before, const Present& now, Lines& out) {
  for (const auto& [pid, process] : now.processes)
    if (!before.processes.count(pid)) out.push_back(text_of(pid, process));
}

void changed_descriptors(const Present& before, const Present& now, Lines& out) {
  for (const auto& [fd, target] : now.descriptors) {
    const auto was = before.descriptors.find(fd);
    if (was != before.descriptors.end() && was->second == target) continue;
    if (!is_kept(target)) out.push_back("descriptor " + std::to_string(fd) + ": " + target);
  }
  for (const auto& [fd, target] : before.descriptors)
    if (!now.descriptors.count(fd))
      out.push_back("descriptor " + std::to_string(fd) +
                    " was closed, it is not the test's: " + target);
}

void new_threads(const Present& before, const Present& now, Lines& out) {
  for (const auto& [tid, name] : now.threads)
    if (!before.threads.count(tid)) out.push_back("thread " + std::to_string(tid) + ": " + name);
}

void new_files(const Present& before, const Present& now, Lines& out) {
  for (const std::string& file : now.files)
    if (!before.files.count(file)) out.push_back("file " + file);
}

Lines left_since(const Present& before, const Present& now) {
  using Compare = void (*)(const Present&, const Present&, Lines&);
  static constexpr std::pair<Left, Compare> kKinds[] = {{Left::process, new_processes},
                                                        {Left::descriptor, changed_descriptors},
                                                        {Left::thread, new_threads},
                                                        {Left::file, new_files}};
  Lines out;
  for (const auto& [kind, compare] : kKinds)
    if (!excused().count(kind)) compare(before, now, out);
  return out;
}

// So that one test's do not disturb the next.
void clear_away(const Present& before, const Present& now) {
  for (const auto& [pid, process] : now.processes) {
    if (before.processes.count(pid)) continue;
    ::kill(pid, SIGKILL);
    if (process.parent == ::getpid()) ::waitpid(pid, nullptr, 0);
  }
  const char* own = std::getenv("TMPDIR");
  std::error_code code;
  for (const std::string& file : now.files)
    if (guard_pid() && !before.files.count(file) && file.starts_with(own))
      fs::remove_all(file, code);
}

}  // namespace

void may_leave(Left kind, const std::string& why) {
  std::cout << "leaves something behind: " << why << "\n";
  excused()[kind] = why;
}

Present Present::look() {
  std::vector<pid_t> parents{::getpid()};
  if (guard_pid()) parents.push_back(guard_pid());
  Present now;
  now.processes = children_of(parents);
  now.processes.erase(::getpid());
  now.descriptors = testing::descriptors();
  now.threads = testing::threads();
  now.files = testing::files();
  return now;
}

// TSan starts a thread of its own together with a program's first one.
Leftovers::Leftovers() {
  std::thread([] {}).join();
}

void Leftovers::OnTestStart(const ::testing::TestInfo&) {
  excused().clear();
  before_ = Present::look();
}

void Leftovers::OnTestEnd(const ::testing::TestInfo&) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(grace_ms());
  Present now = Present::look();
  Lines left = left_since(before_, now);
  while (!left.empty() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    now = Present::look();
    left = left_since(before_, now);
  }
  for (const std::string& one : left) ADD_FAILURE() << "left behind: " << one;
  clear_away(before_, now);
}

}  // namespace sandglass::testing
