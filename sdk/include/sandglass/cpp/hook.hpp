// hook<T>: reacts to events.
//
//   struct T {
//     T(Host, const Config&);                          // or (Host), or nothing; throw to refuse
//     void on_event(Call, const Event&);               // throw to fail this event
//     static constexpr uint64_t interests = SG_EV_FILES;  // optional: SG_EV_ALL without it
//     static constexpr const char* config_schema = "{...}";  // optional: JSON Schema of `with:`
//     static constexpr uint32_t flags = SG_TYPE_...;   // optional
//     size_t on_batch(Call, const Events&);            // optional: how many are done with
//     void flush(Call);                                // optional
//     static void diagnose(Host, const Config&, Out);  // optional: JSON for `doctor`
//   };
#ifndef SANDGLASS_CPP_HOOK_HPP
#define SANDGLASS_CPP_HOOK_HPP

#include <sandglass/cpp/event.hpp>
#include <sandglass/cpp/table.hpp>

namespace sandglass {
inline namespace sdk1 {

// Several events in order, as on_batch() gets them.
class Events {
 public:
  Events(const sg_host* host, sg_call* call, const sg_event* const* events, size_t count)
      : host_(host), call_(call), events_(events), count_(count) {}
  size_t size() const { return count_; }
  Event operator[](size_t i) const { return Event(host_, call_, events_[i]); }

 private:
  const sg_host* host_;
  sg_call* call_;
  const sg_event* const* events_;
  size_t count_;
};

namespace hooks {

using namespace detail;

SANDGLASS_DETECT(has_interests, static_cast<uint64_t>(T::interests));
SANDGLASS_MEMBER(on_event, std::declval<Call>(), std::declval<const Event&>());
SANDGLASS_MEMBER(on_batch, std::declval<Call>(), std::declval<const Events&>());
SANDGLASS_MEMBER(flush, std::declval<Call>());

template <class T>
struct HookTable {
  static uint64_t interests(void*) {
    if constexpr (has_interests<T>)
      return T::interests;
    else
      return SG_EV_ALL;
  }
  static sg_status on_event(void* self, sg_call* call, const sg_event* event) {
    Self<T>& me = Self<T>::of(self);
    return guard(me.host, call, [&] {
      return me.value->on_event(Call(me.host, call), Event(me.host, call, event));
    });
  }
  static sg_status on_batch(void* self, sg_call* call, const sg_event* const* events, size_t count,
                            size_t* accepted) {
    Self<T>& me = Self<T>::of(self);
    *accepted = 0;
    return guard(me.host, call, [&] {
      *accepted = me.value->on_batch(Call(me.host, call), Events(me.host, call, events, count));
    });
  }
  static sg_status flush(void* self, sg_call* call) {
    Self<T>& me = Self<T>::of(self);
    return guard(me.host, call, [&] { return me.value->flush(Call(me.host, call)); });
  }
  static constexpr sg_hook make() {
    static_assert(can_on_event<T>,
                  "a hook has `void on_event(sandglass::Call, const sandglass::Event&)`");
    sg_hook made = {};
    made.struct_size = sizeof(sg_hook);
    made.interests = interests;
    made.on_event = on_event;
    SANDGLASS_OFFER(on_batch);
    SANDGLASS_OFFER(flush);
    return made;
  }
  static constexpr sg_hook table = make();
};

}  // namespace hooks

template <class T>
constexpr sg_type hook(const char* name, const char* summary) {
  return detail::make_type<T>(SG_KIND_HOOK, name, summary, &hooks::HookTable<T>::table);
}

}  // namespace sdk1
}  // namespace sandglass

#endif  // SANDGLASS_CPP_HOOK_HPP
