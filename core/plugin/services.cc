// The event and sandbox services: what the floors above lend, behind the ABI's tables.
#include <algorithm>
#include <cstring>

#include "plugin/call_state.h"
#include "plugin/callbacks.h"
#include "plugin/host.h"

namespace sandglass::plugin {
namespace {

// Gives a struct back that a plugin made room for: no more than it has room for.
template <class T>
void give_back(T* out, T value) {
  const uint32_t room = out->struct_size;
  value.struct_size = room;
  std::memcpy(out, &value, std::min<size_t>(room, sizeof(T)));
}

void content(const sg_host* host, sg_call* call, const sg_event* event, uint32_t which,
             sg_content* out) {
  sg_content full{};
  full.struct_size = sizeof full;
  full.state = SG_CONTENT_FAULT;
  guarded(host, call, [&]() -> sg_status {
    Host::of(host).services().content(call, event, which, &full);
    return SG_OK;
  });
  give_back(out, full);
}

sg_status stream(const sg_host* host, sg_call* call, const sg_event* event, uint32_t which,
                 sg_out* out) {
  Callbacks callbacks(host, call);
  const sg_status status = guarded(host, call, [&] {
    SafeOut safe(out, callbacks);
    return Host::of(host).services().stream(call, event, which, safe.abi());
  });
  callbacks.finish();
  return status;
}

void retain(const sg_host* host, const sg_event* event) {
  guarded(host, nullptr, [&]() -> sg_status {
    Host::of(host).services().retain(event);
    return SG_OK;
  });
}

void release(const sg_host* host, const sg_event* event) {
  guarded(host, nullptr, [&]() -> sg_status {
    Host::of(host).services().release(event);
    return SG_OK;
  });
}

sg_status emit(const sg_host* host, sg_str sandbox_id, sg_str topic, sg_str json) {
  return guarded(host, nullptr, [&] {
    return Host::of(host).services().emit(view(sandbox_id), view(topic), view(json));
  });
}

sg_status end_run(const sg_host* host, sg_str sandbox_id, sg_str run_id, sg_str reason) {
  return guarded(host, nullptr, [&] {
    return Host::of(host).services().end_run(view(sandbox_id), view(run_id), view(reason));
  });
}

sg_status exec(const sg_host* host, sg_call* call, sg_str sandbox_id, const sg_exec* what,
               sg_io* io, sg_exit* exit) {
  sg_exit full{};
  full.struct_size = sizeof full;
  Callbacks callbacks(host, call);
  const sg_status status = guarded(host, call, [&] {
    SafeIo safe(io, callbacks);
    return Host::of(host).services().exec(call, view(sandbox_id), what, safe.abi(), &full);
  });
  callbacks.finish();
  if (exit) give_back(exit, full);
  return status;
}

sg_status read(const sg_host* host, sg_call* call, sg_str sandbox_id, sg_bytes path,
               uint64_t offset, uint64_t max_bytes, sg_out* out) {
  Callbacks callbacks(host, call);
  const sg_status status = guarded(host, call, [&] {
    SafeOut safe(out, callbacks);
    return Host::of(host).services().read(call, view(sandbox_id), path, offset, max_bytes,
                                          safe.abi());
  });
  callbacks.finish();
  return status;
}

}  // namespace

sg_event_service event_service(const HostServices& services) {
  sg_event_service out{};
  out.struct_size = sizeof out;
  out.content = services.content ? content : nullptr;
  out.stream = services.stream ? stream : nullptr;
  out.retain = services.retain ? retain : nullptr;
  out.release = services.release ? release : nullptr;
  out.emit = services.emit ? emit : nullptr;
  out.end_run = services.end_run ? end_run : nullptr;
  return out;
}

sg_sandbox_service sandbox_service(const HostServices& services) {
  sg_sandbox_service out{};
  out.struct_size = sizeof out;
  out.exec = services.exec ? exec : nullptr;
  out.read = services.read ? read : nullptr;
  return out;
}

}  // namespace sandglass::plugin
