// Leaves a thread-local destructor and an exit handler behind (case P6).
#include <cstdlib>
#include <sandglass/plugin.hpp>

namespace {

struct AtThreadEnd {
  int* count = nullptr;
  ~AtThreadEnd() {
    if (count) ++*count;
  }
};
thread_local AtThreadEnd at_thread_end;
int ended = 0;

struct Lingering {
  Lingering() {
    std::atexit([] { ended = -1; });
  }
  void on_event(sandglass::Call, const sandglass::Event&) { at_thread_end.count = &ended; }
};

}  // namespace

SANDGLASS_PLUGIN("test.lingering", "1.0.0",
                 sandglass::hook<Lingering>("lingering", "Outlives its instances"))
