// Leaves behind what it may (case P6): a thread that ends in destroy(), a thread-local object with
// a destructor, and an exit handler.
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <sandglass/plugin.hpp>
#include <thread>

namespace {

struct AtThreadEnd {
  int* count = nullptr;
  ~AtThreadEnd() {
    if (count) ++*count;
  }
};
thread_local AtThreadEnd at_thread_end;
thread_local int ended_here = 0;
int at_exit = 0;

class Lingering {
 public:
  Lingering() : thread_([this] { run(); }) {
    std::atexit([] { at_exit = -1; });
  }
  ~Lingering() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  void on_event(sandglass::Call, const sandglass::Event&) { at_thread_end.count = &ended_here; }

 private:
  void run() {
    at_thread_end.count = &ended_here;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return over_; });
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace

SANDGLASS_PLUGIN("test.lingering", "1.0.0",
                 sandglass::hook<Lingering>("lingering", "Outlives its instances"))
