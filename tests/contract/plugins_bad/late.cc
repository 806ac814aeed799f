// Its thread goes on after destroy(), and talks to the host (case P7). `with: {fd: N}`: it waits
// for a byte there before each round, and answers with one; an end of file ends it.
#include <sandglass/plugin.h>
#include <unistd.h>

#include <string>
#include <thread>

namespace {

sg_str str(const char* text) {
  return {text, std::char_traits<char>::length(text)};
}

void use_everything(const sg_host* host, const sg_config* config) {
  host->log(host, SG_LOG_INFO, nullptr, str("still here"));
  host->log_enabled(host, SG_LOG_DEBUG, "late");
  host->now_ns(host);
  host->time_ms(host);
  host->fail(host, nullptr, SG_E_LOST, 0, str("a.b"), str("too late"));
  sg_call stale{};  // whatever it points to now
  host->cancelled(host, &stale);
  host->wait(host, &stale, -1, 0, -1);
  host->progress(host, &stale, 1, 2, str("rounds"));
  host->config_json(host, config);
  host->config_kind(host, config, "/fd");
  host->config_str(host, config, "/fd", str("none"));
  host->config_int(host, config, "/fd", 7);
  host->config_num(host, config, "/fd", 7);
  host->config_bool(host, config, "/fd", 1);
  host->config_duration_ns(host, config, "/fd", 7);
  host->config_size(host, config, "/fd", 7);
  host->config_count(host, config, "");
  host->config_key_at(host, config, "", 0);
}

struct Self {
  const sg_host* host;
  const sg_config* config;
  const sg_event_service* events;
  const sg_process_service* processes;
  int fd;
};

void run(Self me) {
  for (char c; ::read(me.fd, &c, 1) == 1;) {
    use_everything(me.host, me.config);
    me.host->service(me.host, SG_SERVICE_EVENT);
    if (me.events) me.events->emit(me.host, str("box"), str("late"), str("{}"));
    me.processes->signal(me.host, str("tag"), 0);
    sg_call stale{};
    sg_exec exec{};
    me.processes->run(me.host, &stale, &exec, nullptr, nullptr);
    if (::write(me.fd, &c, 1) != 1) break;
  }
  ::close(me.fd);
}

sg_status on_event(void*, sg_call*, const sg_event*) {
  return SG_OK;
}
uint64_t interests(void*) {
  return SG_EV_ALL;
}

sg_status create(const sg_host* host, sg_call*, const sg_config* config, void** self) {
  const auto* events = static_cast<const sg_event_service*>(host->service(host, SG_SERVICE_EVENT));
  const auto* processes =
      static_cast<const sg_process_service*>(host->service(host, SG_SERVICE_PROCESS));
  const auto fd = static_cast<int>(host->config_int(host, config, "/fd", -1));
  *self = nullptr;
  std::thread(run, Self{host, config, events, processes, fd}).detach();
  return SG_OK;
}
void destroy(void*) {}

const sg_hook hook = {sizeof(sg_hook), 0, interests, on_event, nullptr, nullptr};
const sg_type type = {sizeof(sg_type), 0,     SG_KIND_HOOK, "late",  "Comes too late",
                      nullptr,         &hook, create,       destroy, nullptr};
const sg_type* const types[] = {&type, nullptr};

}  // namespace

const sg_plugin sg_plugin_v1 = {sizeof(sg_plugin), SG_ABI_MAJOR, SG_ABI_MINOR, 0,    "test.late",
                                "1.0.0",           nullptr,      nullptr,      types};
