// An event and its lazy content.
#ifndef SANDGLASS_CPP_EVENT_HPP
#define SANDGLASS_CPP_EVENT_HPP

#include <sandglass/cpp/host.hpp>

namespace sandglass {
inline namespace sdk1 {

// before(), after() or diff(): a view that lives as long as the event. Never a failure: state()
// says why text() is what it is.
class Content {
 public:
  explicit Content(const sg_content& content) : content_(content) {}
  const sg_content& abi() const { return content_; }

  uint32_t state() const { return content_.state; }  // SG_CONTENT_*
  bool here() const { return content_.state == SG_CONTENT_HERE; }
  bool binary() const { return (content_.flags & SG_CF_BINARY) != 0; }
  bool late() const { return (content_.flags & SG_CF_LATE) != 0; }
  bool symlink() const { return (content_.flags & SG_CF_SYMLINK) != 0; }
  bool masked() const { return (content_.flags & SG_CF_MASKED) != 0; }
  uint32_t mode() const { return content_.mode; }
  uint64_t full_size() const { return content_.full_size; }
  std::string_view sha256() const { return view(content_.sha256); }
  std::string_view text() const { return view(content_.data); }

 private:
  sg_content content_;
};

// Valid until the function it was passed to returns; keep() makes it last.
class Event {
 public:
  Event(const sg_host* host, sg_call* call, const sg_event* event)
      : host_(host), call_(call), event_(event) {}
  const sg_event* abi() const { return event_; }

  uint32_t kind() const { return event_->kind; }  // SG_EV_*
  bool is_file() const { return kind() <= SG_EV_FILE_DELETE; }
  uint32_t flags() const { return event_->flags; }  // SG_EVF_*
  uint64_t seq() const { return event_->seq; }
  int64_t time_ns() const { return event_->time_ns; }  // since 1970
  std::string_view id() const { return view(event_->id); }
  std::string_view sandbox_id() const { return view(event_->sandbox_id); }
  std::string_view run_id() const { return view(event_->run_id); }
  std::string_view path() const { return view(event_->path); }          // inside the sandbox
  std::string_view relative() const { return view(event_->relative); }  // below the workspace root
  std::string_view topic() const { return view(event_->topic); }
  std::string_view json() const { return view(event_->json); }
  std::string_view actor() const { return view(event_->actor); }
  int32_t actor_pid() const { return event_->actor_pid; }
  uint32_t actor_state() const { return event_->actor_state; }  // SG_ACTOR_*
  // "create", "change", "delete", "ready", ...
  const char* type() const {
    static const char* const names[] = {"create", "change",  "delete",    "ready",
                                        "error",  "destroy", "run_start", "run_end",
                                        "rescan", "custom",  "state"};
    return kind() < sizeof names / sizeof *names ? names[kind()] : "unknown";
  }

  // Content at the session baseline, content now, and the patch between them. The first of each
  // may read a file; for_export withholds what must not leave this host.
  Content before(bool for_export = false) const { return content(SG_BEFORE, for_export); }
  Content after(bool for_export = false) const { return content(SG_AFTER, for_export); }
  Content diff(bool for_export = false) const { return content(SG_DIFF, for_export); }
  Content content(uint32_t which, bool for_export) const {
    sg_content out = {};
    out.struct_size = sizeof out;
    const sg_event_service* events = service();
    if (events && events->content)
      events->content(host_, call_, event_, for_export ? which | SG_FOR_EXPORT : which, &out);
    else
      out.state = SG_CONTENT_UNSUPPORTED;
    return Content(out);
  }
  // The same without the size cap, piece by piece into `out`.
  void stream(uint32_t which, sg_out* out) const {
    const sg_event_service* events = service();
    if (!events || !events->stream) throw Error(SG_E_UNSUPPORTED, "this host streams no content");
    const sg_status status = events->stream(host_, call_, event_, which, out);
    if (status != SG_OK) throw Error(status, "the content could not be streamed");
  }

 private:
  friend class KeptEvent;
  const sg_event_service* service() const {
    return static_cast<const sg_event_service*>(host_->service(host_, SG_SERVICE_EVENT));
  }
  const sg_host* host_;
  sg_call* call_;
  const sg_event* event_;
};

// Keeps an event past the function that was given it. Any thread.
class KeptEvent {
 public:
  explicit KeptEvent(const Event& event) : host_(event.host_), event_(event.event_) {
    const sg_event_service* events = event.service();
    if (!events || !events->retain || !events->release)
      throw Error(SG_E_UNSUPPORTED, "this host lets no event be kept");
    release_ = events->release;
    events->retain(host_, event_);
  }
  KeptEvent(KeptEvent&& other) noexcept
      : host_(other.host_),
        event_(std::exchange(other.event_, nullptr)),
        release_(other.release_) {}
  KeptEvent& operator=(KeptEvent&& other) noexcept {
    std::swap(host_, other.host_);
    std::swap(event_, other.event_);
    std::swap(release_, other.release_);
    return *this;
  }
  KeptEvent(const KeptEvent&) = delete;
  KeptEvent& operator=(const KeptEvent&) = delete;
  ~KeptEvent() {
    if (event_) release_(host_, event_);
  }

  // For use within a later call, on its thread.
  Event in(Call call) const { return Event(host_, call.abi(), event_); }

 private:
  const sg_host* host_;
  const sg_event* event_;
  void (*release_)(const sg_host*, const sg_event*) = nullptr;
};

}  // namespace sdk1
}  // namespace sandglass

#endif  // SANDGLASS_CPP_EVENT_HPP
