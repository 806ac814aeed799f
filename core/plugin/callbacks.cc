#include "plugin/callbacks.h"

#include "plugin/abi.h"
#include "plugin/call_state.h"
#include "plugin/host.h"

namespace sandglass::plugin {

sg_status Callbacks::call(const std::function<sg_status()>& fn) {
  if (ended_) return SG_E_CANCELLED;
  sg_status status = SG_E_FAILED;
  try {
    ended_ = contain([&] { status = fn(); });
  } catch (...) {
    return fail_call(host_, call_, SG_E_FAILED, 0, {}, "a function given to the host threw");
  }
  if (!ended_) return status;
  if (call_) Call::State::of(call_).cancel_now();
  return SG_E_CANCELLED;
}

SafeIo::SafeIo(sg_io* theirs, Callbacks& callbacks)
    : sg_io{},
      theirs_(theirs),
      table_(theirs ? adopt<sg_io>(theirs) : sg_io{}),
      callbacks_(callbacks) {
  struct_size = sizeof(sg_io);
  read_fd = theirs ? table_.read_fd : -1;
  if (table_.started)
    sg_io::started = [](sg_io* io, const sg_started* what) {
      SafeIo& me = of(io);
      return me.callbacks_.call([&] { return me.table_.started(me.theirs_, what); });
    };
  if (table_.write)
    sg_io::write = [](sg_io* io, int32_t stream, const void* data, size_t len) {
      SafeIo& me = of(io);
      return me.callbacks_.call([&] { return me.table_.write(me.theirs_, stream, data, len); });
    };
  if (table_.read)
    sg_io::read = [](sg_io* io, void* data, size_t room, size_t* len) {
      SafeIo& me = of(io);
      return me.callbacks_.call([&] { return me.table_.read(me.theirs_, data, room, len); });
    };
}

SafeOut::SafeOut(sg_out* theirs, Callbacks& callbacks)
    : sg_out{}, theirs_(theirs), callbacks_(callbacks) {
  struct_size = sizeof(sg_out);
  append = [](sg_out* out, const void* data, size_t len) {
    auto& me = *static_cast<SafeOut*>(out);
    return me.callbacks_.call([&] { return me.theirs_->append(me.theirs_, data, len); });
  };
}

}  // namespace sandglass::plugin
