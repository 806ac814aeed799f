// The C++ wrapper's goal, as its documentation writes it, and one type of each other kind.
#include <sandglass/plugin.hpp>
#include <vector>

#include "layout_v1.h"

struct Counter {
  static constexpr uint64_t interests = SG_EV_FILES;
  Counter(sandglass::Host, const sandglass::Config&) {}
  void on_event(sandglass::Call, const sandglass::Event& e) { bytes += e.path().size(); }
  uint64_t bytes = 0;
};

// Uses every optional part of a hook.
struct Full {
  static constexpr const char* config_schema = R"({"type":"object"})";
  static constexpr uint32_t flags = SG_TYPE_CONCURRENT;
  explicit Full(sandglass::Host host) : host_(host) {}
  sg_status on_event(sandglass::Call call, const sandglass::Event& e) {
    if (call.cancelled()) return SG_E_CANCELLED;
    const std::string_view texts[] = {e.before().text(), e.after().text(), e.diff(true).text()};
    host_.info(texts[2]);
    kept_.emplace_back(e);
    return SG_OK;
  }
  size_t on_batch(sandglass::Call, const sandglass::Events& events) { return events.size(); }
  void flush(sandglass::Call) { kept_.clear(); }
  static void diagnose(sandglass::Host, const sandglass::Config&, sandglass::Out out) {
    out.append("{}");
  }

 private:
  struct Kept {
    explicit Kept(const sandglass::Event& e) : event(e) {}
    sandglass::KeptEvent event;
  };
  sandglass::Host host_;
  std::vector<Kept> kept_;
};

struct Poll {
  void run(sandglass::Call call, sandglass::WatchTarget target, sandglass::WatchSink sink) {
    sink.ready();
    while (!call.sleep(static_cast<int>(target.interval_ms())))
      if (!sink.hint(SG_HINT_TREE, "")) return;
  }
  void flush(sandglass::Call, std::string_view) {}
};

struct Local {
  static constexpr uint64_t capabilities = SG_CAP_LOCAL_PATH;
  void create(sandglass::Call, const sg_sandbox_spec& spec, sandglass::Out id) {
    id.append(sandglass::view(spec.key));
  }
  void destroy(sandglass::Call, std::string_view) {}
  void exec(sandglass::Call, std::string_view, const sg_exec&, sandglass::Io io, sg_exit& exit) {
    io.write(1, "done");
    exit.value = 0;
  }
  void list(sandglass::Call, std::string_view, sandglass::HeldSink) {}
  void wait_gone(sandglass::Call call, std::string_view) { call.sleep(-1); }
  void local_path(sandglass::Call, std::string_view, sandglass::Out path) { path.append("/"); }
};
// What a class does not have is not offered.
template <class F>
constexpr bool offered(F* slot) {
  return slot != nullptr;
}
static_assert(offered(sandglass::providers::ProviderTable<Local>::table.local_path));
static_assert(!offered(sandglass::providers::ProviderTable<Local>::table.snapshot));
static_assert(offered(sandglass::hooks::HookTable<Full>::table.flush));
static_assert(!offered(sandglass::hooks::HookTable<Counter>::table.flush));

SANDGLASS_PLUGIN("com.example.counter", "1.0.0",
                 sandglass::hook<Counter>("counter", "Counts path bytes"),
                 sandglass::hook<Full>("full", "Uses all"),
                 sandglass::watcher<Poll>("ticks", "Asks for a look now and then"),
                 sandglass::provider<Local>("here", "Runs nothing"))
