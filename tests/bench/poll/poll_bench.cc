// One look of the watcher that polls, from the command to the judge's answer, beside the bare find
// that prints the same: poll_bench [FILES] [DIR]
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "plugin/registry.h"
#include "support/command.h"
#include "support/temp_dir.h"
#include "watch/session.h"

using namespace sandglass;

namespace {

constexpr int kRounds = 11;
constexpr int kPerDirectory = 100;
constexpr int kLimitMs = 120'000;

[[noreturn]] void die(const std::string& text) {
  std::fprintf(stderr, "poll_bench: %s\n", text.c_str());
  std::exit(1);
}

double ms(const timeval& t) {
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_usec) / 1e3;
}

// Of this process and of the commands that have ended.
double cpu_ms() {
  double sum = 0;
  for (int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used{};
    ::getrusage(who, &used);
    sum += ms(used.ru_utime) + ms(used.ru_stime);
  }
  return sum;
}

struct Cost {
  std::vector<double> wall, cpu;
  void measure(const std::function<void()>& work) {
    const int64_t began = mono_ns();
    const double cpu_began = cpu_ms();
    work();
    wall.push_back(static_cast<double>(mono_ns() - began) / 1e6);
    cpu.push_back(cpu_ms() - cpu_began);
  }
  static double median(std::vector<double> all) {
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
  }
  static double least(const std::vector<double>& all) {
    return *std::min_element(all.begin(), all.end());
  }
};

void print(const char* what, const Cost& cost) {
  std::printf("%-22s wall %7.1f ms (least %7.1f)   CPU %7.1f ms\n", what, Cost::median(cost.wall),
              Cost::least(cost.wall), Cost::median(cost.cpu));
}

}  // namespace

int main(int argc, char** argv) {
  const int files = argc > 1 ? std::atoi(argv[1]) : 50'000;
  if (argc > 2) ::setenv("TMPDIR", argv[2], 1);
  const testing::TempDir tree;
  for (int i = 0; i < files; ++i)
    tree.write("d" + std::to_string(i / kPerDirectory / 50) + "/e" +
                   std::to_string(i / kPerDirectory) + "/file-" + std::to_string(i),
               "x");

  const plugin::Registry registry({{SANDGLASS_WATCHER, "", "bench"}});
  auto type = registry.find(SG_KIND_WATCHER, "poll");
  if (!type) die(type.error().text);
  plugin::HostServices services;
  services.exec = plugin::exec_in(tree.path());
  auto instance = plugin::Instance::create(**type, "poll", config::Value{}, services);
  if (!instance) die(instance.error().text);
  watch::Target target;
  target.sandbox_id = "bench";
  target.local_root = tree.path();
  target.interval_ms = 600'000;  // it looks when it is asked
  auto session = watch::Session::start(
      *instance, target, [](std::vector<watch::FileChange>) {}, kLimitMs);
  if (!session) die(session.error().text);

  const auto bare = [&] {
    const auto out = testing::Command({"find", ".", "-ignore_readdir_race", "-type", "d", "(",
                                       "-name", ".git", "-o", "-name", "node_modules", ")",
                                       "-prune", "-o", "-printf", "%y %m %i %s %T@ %C@ %p\\0"})
                         .in(tree.path())
                         .env("LC_ALL", "C")
                         .run();
    if (out.code != 0) die("find failed: " + out.err);
  };
  const auto poll = [&] {
    if (auto flushed = (*session)->flush(kLimitMs); !flushed) die(flushed.error().text);
  };
  bare(), poll(), poll();  // what was just written is hashed in the first ones
  Cost bare_cost, poll_cost;
  for (int i = 0; i < kRounds; ++i) {
    bare_cost.measure(bare);
    poll_cost.measure(poll);
  }
  std::printf("%d files\n", files);
  print("find -printf alone", bare_cost);
  print("one look of poll", poll_cost);
  std::printf("ratio                  wall %.2f (of the least: %.2f)\n",
              Cost::median(poll_cost.wall) / Cost::median(bare_cost.wall),
              Cost::least(poll_cost.wall) / Cost::least(bare_cost.wall));
  if (auto stopped = (*session)->stop(kLimitMs); !stopped) die(stopped.error().text);
  return 0;
}
