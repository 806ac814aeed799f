// Lets exceptions cross the border, against the rules (case P7): `with: {in: create}` and so on.
#include <sandglass/plugin.h>

#include <stdexcept>
#include <string>

namespace {

struct Self {
  std::string in;
};

void throw_in(const Self& self, const char* function) {
  if (self.in == function) throw std::runtime_error(std::string("thrown in ") + function);
}

uint64_t interests(void*) {
  return SG_EV_ALL;
}

sg_status on_event(void* self, sg_call*, const sg_event*) {
  throw_in(*static_cast<Self*>(self), "on_event");
  if (static_cast<Self*>(self)->in == "number") throw 7;
  return SG_OK;
}

sg_status create(const sg_host* host, sg_call*, const sg_config* config, void** self) {
  const sg_str in = host->config_str(host, config, "/in", {"", 0});
  auto* made = new Self{std::string(in.data, in.len)};
  *self = made;
  if (made->in == "create") {
    delete made;
    throw std::runtime_error("thrown in create");
  }
  return SG_OK;
}

void destroy(void* self) {
  const Self copy = *static_cast<Self*>(self);
  delete static_cast<Self*>(self);
  throw_in(copy, "destroy");
}

const sg_hook hook = {sizeof(sg_hook), 0, interests, on_event, nullptr, nullptr};
const sg_type type = {sizeof(sg_type), 0,     SG_KIND_HOOK, "throws", "Throws",
                      nullptr,         &hook, create,       destroy,  nullptr};
const sg_type* const types[] = {&type, nullptr};

}  // namespace

const sg_plugin sg_plugin_v1 = {sizeof(sg_plugin), SG_ABI_MAJOR, SG_ABI_MINOR, 0,    "test.throws",
                                "1.0.0",           nullptr,      nullptr,      types};
