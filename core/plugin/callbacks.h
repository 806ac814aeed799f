// A plugin's functions that one of the host's services calls while the plugin waits for the
// service: they may end the process or throw, and the host's frames between must not be skipped.
#pragma once

#include <sandglass/plugin.h>

#include <functional>
#include <optional>

#include "plugin/contain.h"

namespace sandglass::plugin {

// For one run of a service's function, on its thread. After the first one that ended the process no
// more are called: each answers SG_E_CANCELLED, and the call is cancelled, so that the service
// comes to its end soon.
class Callbacks {
 public:
  Callbacks(const sg_host* host, sg_call* call) : host_(host), call_(call) {}
  sg_status call(const std::function<sg_status()>& fn);
  // To be called last, when nothing of the service is left on the stack.
  void finish() const {
    if (ended_) leave(*ended_);
  }

 private:
  const sg_host* host_;
  sg_call* call_;
  std::optional<Ended> ended_;
};

// The plugin's sg_io or sg_out, with the same rules; a null one stays null. Valid as long as both.
class SafeIo : public sg_io {
 public:
  SafeIo(sg_io* theirs, Callbacks& callbacks);
  sg_io* abi() { return theirs_ ? this : nullptr; }

 private:
  static SafeIo& of(sg_io* io) { return *static_cast<SafeIo*>(io); }
  sg_io* theirs_;
  sg_io table_;
  Callbacks& callbacks_;
};

class SafeOut : public sg_out {
 public:
  SafeOut(sg_out* theirs, Callbacks& callbacks);
  sg_out* abi() { return theirs_ ? this : nullptr; }

 private:
  sg_out* theirs_;
  Callbacks& callbacks_;
};

}  // namespace sandglass::plugin
