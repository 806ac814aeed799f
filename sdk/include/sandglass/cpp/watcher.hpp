// watcher<T>: tells where something changed below a directory.
//
//   struct T {
//     T(Host, const Config&);                       // or (Host), or nothing
//     void run(Call, WatchTarget, WatchSink);       // a thread of its own, until the call is
//     cancelled void flush(Call, std::string_view sandbox_id);   // every change made before is in
//     the sink void probe(Call, WatchTarget);                // optional: throw to say why it
//     cannot watch it
//   };
// run() and flush() run at once, on different threads. One with `static constexpr uint32_t flags =
// SG_TYPE_LISTS` tells what is there, by sink.listings(), and the host looks at nothing itself.
#ifndef SANDGLASS_CPP_WATCHER_HPP
#define SANDGLASS_CPP_WATCHER_HPP

#include <sandglass/cpp/table.hpp>

namespace sandglass {
inline namespace sdk1 {

class WatchTarget {
 public:
  explicit WatchTarget(const sg_watch_target* target) : target_(target) {}
  const sg_watch_target* abi() const { return target_; }
  std::string_view sandbox_id() const { return view(target_->sandbox_id); }
  std::string_view root() const { return view(target_->root); }              // inside the sandbox
  std::string_view local_root() const { return view(target_->local_root); }  // here, or empty
  uint32_t interval_ms() const { return target_->interval_ms; }
  size_t ignore_count() const { return target_->ignore_count; }
  std::string_view ignore(size_t i) const { return view(target_->ignore[i]); }

 private:
  const sg_watch_target* target_;
};

// Any thread while run() has not returned. What asks the watcher to stop returns false.
class WatchSink {
 public:
  explicit WatchSink(sg_watch_sink* sink) : sink_(sink) {}
  sg_watch_sink* abi() const { return sink_; }

  void ready() const { sink_->ready(sink_); }
  void state(std::string_view json) const { sink_->state(sink_, str(json)); }
  // kind is SG_HINT_*, flags SG_HINTF_*; path is below the target's root.
  bool hint(uint32_t kind, std::string_view path, uint32_t flags = 0, uint64_t seen_ns = 0) const {
    sg_hint hint = {};
    hint.struct_size = sizeof hint;
    hint.kind = kind;
    hint.flags = flags;
    hint.pidfd = -1;
    hint.seen_ns = seen_ns;
    hint.path = bytes(path);
    const sg_hint* one = &hint;
    return hints(&one, 1);
  }
  bool hints(const sg_hint* const* hints, size_t count) const {
    return check(sink_->hints(sink_, hints, count));
  }
  bool listing(std::string_view directory, const sg_entry* const* entries, size_t count,
               bool complete) const {
    return check(sink_->listing(sink_, bytes(directory), entries, count, complete ? 1 : 0));
  }
  bool listings(const sg_listing* const* listings, size_t count) const {
    if (!SG_HAS(sg_watch_sink, sink_, listings) || !sink_->listings)
      throw Error(SG_E_UNSUPPORTED, "this host takes one listing at a time");
    return check(sink_->listings(sink_, listings, count));
  }

 private:
  static bool check(sg_status status) {
    if (status == SG_OK) return true;
    if (status == SG_E_CANCELLED) return false;
    throw Error(status, "the host refused what the watcher saw");
  }
  sg_watch_sink* sink_;
};

namespace watchers {

using namespace detail;

SANDGLASS_MEMBER(run, std::declval<Call>(), std::declval<WatchTarget>(), std::declval<WatchSink>());
SANDGLASS_MEMBER(flush, std::declval<Call>(), std::declval<std::string_view>());
SANDGLASS_MEMBER(probe, std::declval<Call>(), std::declval<WatchTarget>());

template <class T>
struct WatcherTable {
  static sg_status run(void* self, sg_call* call, const sg_watch_target* target,
                       sg_watch_sink* sink) {
    Self<T>& me = Self<T>::of(self);
    return guard(me.host, call, [&] {
      return me.value->run(Call(me.host, call), WatchTarget(target), WatchSink(sink));
    });
  }
  static sg_status probe(void* self, sg_call* call, const sg_watch_target* target) {
    [[maybe_unused]] Self<T>& me = Self<T>::of(self);
    return guard(me.host, call, [&] {
      if constexpr (can_probe<T>) return me.value->probe(Call(me.host, call), WatchTarget(target));
    });
  }
  static sg_status flush(void* self, sg_call* call, sg_str sandbox_id) {
    Self<T>& me = Self<T>::of(self);
    return guard(me.host, call,
                 [&] { return me.value->flush(Call(me.host, call), view(sandbox_id)); });
  }
  static constexpr sg_watcher make() {
    static_assert(can_run<T>, "a watcher has `void run(Call, WatchTarget, WatchSink)`");
    static_assert(can_flush<T>, "a watcher has `void flush(Call, std::string_view)`");
    static_assert(can_probe<T> || !named_probe<T>,
                  "a watcher's probe is `void probe(Call, WatchTarget)`");
    return {sizeof(sg_watcher), 0, run, probe, flush};
  }
  static constexpr sg_watcher table = make();
};

}  // namespace watchers

template <class T>
constexpr sg_type watcher(const char* name, const char* summary) {
  return detail::make_type<T>(SG_KIND_WATCHER, name, summary, &watchers::WatcherTable<T>::table);
}

}  // namespace sdk1
}  // namespace sandglass

#endif  // SANDGLASS_CPP_WATCHER_HPP
