// Does not return for a minute, whatever it is told (case P7): `with: {in: on_event}` and so on.
#include <poll.h>
#include <sandglass/plugin.h>

#include <string>

namespace {

void block_in(const void* self, const char* function) {
  if (*static_cast<const std::string*>(self) == function) ::poll(nullptr, 0, 60'000);
}

uint64_t interests(void* self) {
  block_in(self, "interests");
  return SG_EV_ALL;
}
sg_status on_event(void* self, sg_call*, const sg_event*) {
  block_in(self, "on_event");
  return SG_OK;
}
sg_status flush(void* self, sg_call*) {
  block_in(self, "flush");
  return SG_OK;
}
sg_status create(const sg_host* host, sg_call*, const sg_config* config, void** self) {
  const sg_str in = host->config_str(host, config, "/in", {"", 0});
  *self = new std::string(in.data, in.len);
  return SG_OK;
}
void destroy(void* self) {
  block_in(self, "destroy");
  delete static_cast<std::string*>(self);
}

const sg_hook hook = {sizeof(sg_hook), 0, interests, on_event, nullptr, flush};
const sg_type type = {sizeof(sg_type), 0,     SG_KIND_HOOK, "blocks", "Blocks",
                      nullptr,         &hook, create,       destroy,  nullptr};
const sg_type* const types[] = {&type, nullptr};

}  // namespace

const sg_plugin sg_plugin_v1 = {sizeof(sg_plugin), SG_ABI_MAJOR, SG_ABI_MINOR, 0,    "test.blocks",
                                "1.0.0",           nullptr,      nullptr,      types};
