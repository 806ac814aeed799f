// Written with the C++ wrapper; tells the test what it sees of the host, in its log.
#include <sandglass/plugin.hpp>
#include <string>

namespace {

struct Trial {
  static constexpr uint64_t interests = SG_EV_FILES;
  static constexpr const char* config_schema = R"({"type": "object", "properties": {
      "fail": {"type": "string"}, "retry": {"type": "object"}, "limit": {}, "room": {}}})";

  Trial(sandglass::Host host, const sandglass::Config& config)
      : host_(host), fail_(config.text("/fail")) {
    if (fail_ == "create") throw sandglass::Error::config("retry.max", "must not be 13");
    host_.info("limit " + std::to_string(config.duration_ns("/limit", 5)));
    host_.info("room " + std::to_string(config.size("/room", 6)));
  }

  void on_event(sandglass::Call call, const sandglass::Event& event) {
    if (fail_ == "event") throw sandglass::Error(SG_E_BUSY, "try later", SG_FAIL_RETRY);
    if (fail_ == "other") throw std::runtime_error("went wrong");
    if (fail_ == "odd") throw 7;
    if (fail_ == "memory") throw std::bad_alloc();
    if (fail_ == "wait") call.sleep(-1);
    const auto diff = event.diff();
    host_.info(std::string(event.type()) + " " + std::string(event.relative()) + " " +
               std::string(diff.text()));
  }
  void flush(sandglass::Call) { host_.info("flushed"); }
  static void diagnose(sandglass::Host, const sandglass::Config&, sandglass::Out out) {
    out.append("{\"ok\":");
    out.append("true}");
  }

 private:
  sandglass::Host host_;
  std::string fail_;
};

}  // namespace

SANDGLASS_PLUGIN("test.trial", "2.1.0", sandglass::hook<Trial>("trial", "Tries the wrapper"))
