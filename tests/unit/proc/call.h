// One run of a command in a test: what it said and how it ended.
#pragma once

#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/fd.h"
#include "proc/child.h"

namespace sandglass::proc::testing {

inline Spawn shell(const std::string& line) {
  Spawn what;
  what.argv = {"sh", "-c", line};
  return what;
}

// Every test's own, so that leftovers of one are not taken for another's.
inline std::string fresh_tag() {
  static int count = 0;
  return "test-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
}

struct Ran {
  Result<Exit> exit = fail(Fault::failed, "not run");
  std::string out, err;
  double seconds = 0;
};

inline Ran run_it(const Spawn& what, Limits limits = {}, std::string input = "") {
  Ran ran;
  Io io;
  io.output = [&](int stream, std::string_view bytes) {
    (stream == 1 ? ran.out : ran.err).append(bytes);
    return true;
  };
  io.input = [&](std::span<char> room) {
    const size_t n = std::min(room.size(), input.size());
    std::copy_n(input.data(), n, room.data());
    input.erase(0, n);
    return n;
  };
  const int64_t start = mono_ns();
  ran.exit = run(what, io, limits);
  ran.seconds = static_cast<double>(mono_ns() - start) / 1e9;
  return ran;
}

inline Limits within_ms(int64_t ms) {
  return {mono_ns() + ms * 1'000'000, -1};
}

// Processes (zombies included where asked) whose environment or parent chain marks them as the
// test's: those that carry the tag.
inline int count_tagged(const std::string& tag) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream in(entry.path() / "environ", std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    if (bytes.find("SANDGLASS_TAG=" + tag) != std::string::npos) ++count;
  }
  return count;
}

// Waits for a condition that another process brings about.
template <class F>
bool eventually(F holds, int ms = 3000) {
  const int64_t end = mono_ns() + int64_t{ms} * 1'000'000;
  while (!holds()) {
    if (mono_ns() > end) return false;
    ::poll(nullptr, 0, 5);
  }
  return true;
}

// Whether a process with this number lives (a zombie does not).
inline bool alive(int pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(in, line);
  const size_t end = line.rfind(')');
  return end != std::string::npos && line[end + 2] != 'Z' && line[end + 2] != 'X';
}

inline int zombies_of(int parent) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream in(entry.path() / "stat");
    std::string line;
    std::getline(in, line);
    const size_t end = line.rfind(')');
    if (end == std::string::npos || line[end + 2] != 'Z') continue;
    if (std::atoi(line.c_str() + end + 4) == parent) ++count;
  }
  return count;
}

}  // namespace sandglass::proc::testing
