#include "plugin/call.h"

#include "base/clock.h"
#include "base/log.h"
#include "plugin/call_state.h"

namespace sandglass::plugin {

bool Call::State::stopped() const {
  return is_cancelled || (options.within && of(options.within).stopped());
}

bool Call::State::over() const {
  return stopped() || (deadline_ns != 0 && static_cast<uint64_t>(mono_ns()) >= deadline_ns);
}

Call::Call(Options options) : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.options = std::move(options);
  // Without a descriptor (the process is out of them) host->wait() looks at the flag instead.
  if (!s.options.within)
    if (auto made = make_eventfd()) s.cancel = std::move(*made);
  s.struct_size = sizeof(sg_call);
  s.cancel_fd = s.options.within ? s.options.within->cancel_fd : s.cancel.get();
  s.deadline_ns = static_cast<uint64_t>(s.options.deadline_ns);
  s.sandbox_id = str(s.options.sandbox_id);
  s.run = s.options.run;
}

Call::~Call() = default;

sg_call* Call::abi() {
  return state_.get();
}

void Call::State::cancel_now() {
  is_cancelled = true;
  if (cancel) signal_eventfd(cancel.get());
}

void Call::cancel() {
  state_->cancel_now();
}

bool Call::cancelled() const {
  return state_->is_cancelled;
}

uint32_t Call::fail_flags() const {
  return state_->flags;
}

static std::string sentence(int32_t status, Fault fault) {
  if (status < SG_E_FAILED || status > SG_E_NO_MEMORY)
    return "failed with status " + std::to_string(status) + ", which this host does not know";
  return "failed and gave no reason (" + std::string(name_of(fault)) + ")";
}

Error Call::error(int32_t status) const {
  const Fault fault = fault_of(status);
  if (state_->text.empty()) return {fault, sentence(status, fault)};
  if (state_->status == status) return {fault, state_->text};
  return {fault, sentence(status, fault) + "; before that: " + state_->text};
}

int32_t Call::explain(sg_call* call, const Error& error) {
  const sg_status status = status_of(error.fault);
  if (!call) return log::error(error.text), status;
  State& state = State::of(call);
  state.status = status;
  state.flags = 0;
  state.text = error.text;
  return status;
}

Fault fault_of(sg_status status) {
  return status >= SG_E_FAILED && status <= SG_E_NO_MEMORY ? static_cast<Fault>(status)
                                                           : Fault::failed;
}

sg_status status_of(Fault fault) {
  const int number = static_cast<int>(fault);
  return number <= SG_E_NO_MEMORY ? number : SG_E_FAILED;
}

}  // namespace sandglass::plugin
