// provider<T>: creates and drives sandboxes. A sandbox is known by the id create() wrote.
//
//   struct T {
//     T(Host, const Config&);                      // or (Host), or nothing
//     static constexpr uint64_t capabilities = SG_CAP_...;
//     void create(Call, const sg_sandbox_spec&, Out id);   // append the id before what can fail
//     void destroy(Call, std::string_view id);
//     void exec(Call, std::string_view id, const sg_exec&, Io, sg_exit&);
//     void list(Call, std::string_view owner, HeldSink);
//     void wait_gone(Call, std::string_view id);   // returns once it is gone by itself
//   };
// and whichever of the optional ones below it can do, with the same names and the arguments of
// sg_provider: texts and paths as std::string_view, sg_out as Out, sg_io as Io, sg_entry_sink as
// EntrySink, sg_held_sink as HeldSink, structs as references. Functions run at once, except create,
// destroy, resume, snapshot and fork of one id.
#ifndef SANDGLASS_CPP_PROVIDER_HPP
#define SANDGLASS_CPP_PROVIDER_HPP

#include <sandglass/cpp/table.hpp>

namespace sandglass {
inline namespace sdk1 {

// A command's input and output while it runs, or an archive's bytes.
class Io {
 public:
  explicit Io(sg_io* io) : io_(io) {}
  sg_io* abi() const { return io_; }

  void started(int32_t pid, int32_t pidfd = -1, uint64_t cgroup_id = 0) const {
    if (!io_->started) return;
    sg_started what = {};
    what.struct_size = sizeof what;
    what.pid = pid;
    what.pidfd = pidfd;
    what.cgroup_id = cgroup_id;
    check(io_->started(io_, &what));
  }
  void write(int32_t stream, std::string_view data) const {
    check(io_->write(io_, stream, data.data(), data.size()));
  }
  // How many bytes came; 0 is the end.
  size_t read(void* data, size_t room) const {
    size_t len = 0;
    check(io_->read(io_, data, room, &len));
    return len;
  }
  int read_fd() const { return io_->read_fd; }

 private:
  static void check(sg_status status) {
    if (status != SG_OK) throw Error(status, "the host ended the stream");
  }
  sg_io* io_;
};

class EntrySink {
 public:
  explicit EntrySink(sg_entry_sink* sink) : sink_(sink) {}
  void add(const sg_entry& entry) const {
    const sg_entry* one = &entry;
    const sg_status status = sink_->add(sink_, &one, 1);
    if (status != SG_OK) throw Error(status, "the host takes no more entries");
  }

 private:
  sg_entry_sink* sink_;
};

class HeldSink {
 public:
  explicit HeldSink(sg_held_sink* sink) : sink_(sink) {}
  void add(const sg_held& held) const {
    const sg_status status = sink_->add(sink_, &held);
    if (status != SG_OK) throw Error(status, "the host takes no more sandboxes");
  }

 private:
  sg_held_sink* sink_;
};

namespace providers {

using namespace detail;

using Sv = std::string_view;

SANDGLASS_MEMBER(create, std::declval<Call>(), std::declval<const sg_sandbox_spec&>(),
                 std::declval<Out>());
SANDGLASS_MEMBER(destroy, std::declval<Call>(), std::declval<Sv>());
SANDGLASS_MEMBER(exec, std::declval<Call>(), std::declval<Sv>(), std::declval<const sg_exec&>(),
                 std::declval<Io>(), std::declval<sg_exit&>());
SANDGLASS_MEMBER(list, std::declval<Call>(), std::declval<Sv>(), std::declval<HeldSink>());
SANDGLASS_MEMBER(wait_gone, std::declval<Call>(), std::declval<Sv>());
SANDGLASS_MEMBER(resume, std::declval<Call>(), std::declval<Sv>());
SANDGLASS_MEMBER(signal, std::declval<Call>(), std::declval<Sv>(), std::declval<Sv>(),
                 std::declval<int32_t>());
SANDGLASS_MEMBER(resize, std::declval<Call>(), std::declval<Sv>(), std::declval<Sv>(),
                 std::declval<uint32_t>(), std::declval<uint32_t>());
SANDGLASS_MEMBER(local_path, std::declval<Call>(), std::declval<Sv>(), std::declval<Out>());
SANDGLASS_MEMBER(stat, std::declval<Call>(), std::declval<Sv>(), std::declval<Sv>(),
                 std::declval<sg_entry&>(), std::declval<Out>());
SANDGLASS_MEMBER(list_dir, std::declval<Call>(), std::declval<Sv>(), std::declval<Sv>(),
                 std::declval<EntrySink>());
SANDGLASS_MEMBER(read, std::declval<Call>(), std::declval<Sv>(), std::declval<Sv>(),
                 std::declval<uint64_t>(), std::declval<uint64_t>(), std::declval<Out>());
SANDGLASS_MEMBER(write, std::declval<Call>(), std::declval<Sv>(), std::declval<Sv>(),
                 std::declval<const sg_entry&>(), std::declval<Io>());
SANDGLASS_MEMBER(remove, std::declval<Call>(), std::declval<Sv>(), std::declval<Sv>());
SANDGLASS_MEMBER(put_archive, std::declval<Call>(), std::declval<Sv>(), std::declval<Sv>(),
                 std::declval<Io>());
SANDGLASS_MEMBER(get_archive, std::declval<Call>(), std::declval<Sv>(), std::declval<Sv>(),
                 std::declval<Io>());
SANDGLASS_MEMBER(snapshot, std::declval<Call>(), std::declval<Sv>(), std::declval<Out>());
SANDGLASS_MEMBER(snapshots, std::declval<Call>(), std::declval<Sv>(), std::declval<HeldSink>());
SANDGLASS_MEMBER(snapshot_delete, std::declval<Call>(), std::declval<Sv>());
SANDGLASS_MEMBER(fork, std::declval<Call>(), std::declval<Sv>(),
                 std::declval<const sg_sandbox_spec&>(), std::declval<Out>());
SANDGLASS_MEMBER(forward, std::declval<Call>(), std::declval<Sv>(), std::declval<uint32_t>(),
                 std::declval<Out>());
SANDGLASS_DETECT(has_capabilities, static_cast<uint64_t>(T::capabilities));

template <class T>
struct ProviderTable {
  // Calls fn(object, Call) and turns what it throws into a status.
  template <class F>
  static sg_status with(void* self, sg_call* call, F&& fn) {
    Self<T>& me = Self<T>::of(self);
    return guard(me.host, call, [&] { return fn(*me.value, Call(me.host, call)); });
  }
  static uint64_t capabilities(void*) { return T::capabilities; }
  static sg_status create(void* self, sg_call* call, const sg_sandbox_spec* spec, sg_out* id) {
    return with(self, call, [&](T& t, Call c) { return t.create(c, *spec, Out(id)); });
  }
  static sg_status destroy(void* self, sg_call* call, sg_str id) {
    return with(self, call, [&](T& t, Call c) { return t.destroy(c, view(id)); });
  }
  static sg_status exec(void* self, sg_call* call, sg_str id, const sg_exec* what, sg_io* io,
                        sg_exit* end) {
    return with(self, call, [&](T& t, Call c) { return t.exec(c, view(id), *what, Io(io), *end); });
  }
  static sg_status list(void* self, sg_call* call, sg_str owner, sg_held_sink* sink) {
    return with(self, call, [&](T& t, Call c) { return t.list(c, view(owner), HeldSink(sink)); });
  }
  static sg_status wait_gone(void* self, sg_call* call, sg_str id) {
    return with(self, call, [&](T& t, Call c) { return t.wait_gone(c, view(id)); });
  }
  static sg_status resume(void* self, sg_call* call, sg_str id) {
    return with(self, call, [&](T& t, Call c) { return t.resume(c, view(id)); });
  }
  static sg_status signal(void* self, sg_call* call, sg_str id, sg_str tag, int32_t signo) {
    return with(self, call, [&](T& t, Call c) { return t.signal(c, view(id), view(tag), signo); });
  }
  static sg_status resize(void* self, sg_call* call, sg_str id, sg_str tag, uint32_t rows,
                          uint32_t columns) {
    return with(self, call,
                [&](T& t, Call c) { return t.resize(c, view(id), view(tag), rows, columns); });
  }
  static sg_status local_path(void* self, sg_call* call, sg_str id, sg_out* path) {
    return with(self, call, [&](T& t, Call c) { return t.local_path(c, view(id), Out(path)); });
  }
  static sg_status stat(void* self, sg_call* call, sg_str id, sg_bytes path, sg_entry* entry,
                        sg_out* link) {
    return with(self, call,
                [&](T& t, Call c) { return t.stat(c, view(id), view(path), *entry, Out(link)); });
  }
  static sg_status list_dir(void* self, sg_call* call, sg_str id, sg_bytes path,
                            sg_entry_sink* sink) {
    return with(self, call,
                [&](T& t, Call c) { return t.list_dir(c, view(id), view(path), EntrySink(sink)); });
  }
  static sg_status read(void* self, sg_call* call, sg_str id, sg_bytes path, uint64_t offset,
                        uint64_t max, sg_out* out) {
    return with(self, call, [&](T& t, Call c) {
      return t.read(c, view(id), view(path), offset, max, Out(out));
    });
  }
  static sg_status write(void* self, sg_call* call, sg_str id, sg_bytes path, const sg_entry* as,
                         sg_io* data) {
    return with(self, call,
                [&](T& t, Call c) { return t.write(c, view(id), view(path), *as, Io(data)); });
  }
  static sg_status remove(void* self, sg_call* call, sg_str id, sg_bytes path) {
    return with(self, call, [&](T& t, Call c) { return t.remove(c, view(id), view(path)); });
  }
  static sg_status put_archive(void* self, sg_call* call, sg_str id, sg_bytes path, sg_io* io) {
    return with(self, call,
                [&](T& t, Call c) { return t.put_archive(c, view(id), view(path), Io(io)); });
  }
  static sg_status get_archive(void* self, sg_call* call, sg_str id, sg_bytes path, sg_io* io) {
    return with(self, call,
                [&](T& t, Call c) { return t.get_archive(c, view(id), view(path), Io(io)); });
  }
  static sg_status snapshot(void* self, sg_call* call, sg_str id, sg_out* snapshot) {
    return with(self, call, [&](T& t, Call c) { return t.snapshot(c, view(id), Out(snapshot)); });
  }
  static sg_status snapshots(void* self, sg_call* call, sg_str owner, sg_held_sink* sink) {
    return with(self, call,
                [&](T& t, Call c) { return t.snapshots(c, view(owner), HeldSink(sink)); });
  }
  static sg_status snapshot_delete(void* self, sg_call* call, sg_str snapshot) {
    return with(self, call, [&](T& t, Call c) { return t.snapshot_delete(c, view(snapshot)); });
  }
  static sg_status fork(void* self, sg_call* call, sg_str id, const sg_sandbox_spec* spec,
                        sg_out* new_id) {
    return with(self, call, [&](T& t, Call c) { return t.fork(c, view(id), *spec, Out(new_id)); });
  }
  static sg_status forward(void* self, sg_call* call, sg_str id, uint32_t port, sg_out* address) {
    return with(self, call,
                [&](T& t, Call c) { return t.forward(c, view(id), port, Out(address)); });
  }
  static constexpr sg_provider make() {
    static_assert(has_capabilities<T>, "a provider has `static constexpr uint64_t capabilities`");
    static_assert(can_create<T>, "a provider has create(); see the top of this file");
    static_assert(can_destroy<T>, "a provider has destroy(); see the top of this file");
    static_assert(can_exec<T>, "a provider has exec(); see the top of this file");
    static_assert(can_list<T>, "a provider has list(); see the top of this file");
    static_assert(can_wait_gone<T>, "a provider has wait_gone(); see the top of this file");
    sg_provider made = {};
    made.struct_size = sizeof(sg_provider);
    made.capabilities = capabilities;
    made.create = create;
    made.destroy = destroy;
    made.exec = exec;
    made.list = list;
    made.wait_gone = wait_gone;
    SANDGLASS_OFFER(resume);
    SANDGLASS_OFFER(signal);
    SANDGLASS_OFFER(resize);
    SANDGLASS_OFFER(local_path);
    SANDGLASS_OFFER(stat);
    SANDGLASS_OFFER(list_dir);
    SANDGLASS_OFFER(read);
    SANDGLASS_OFFER(write);
    SANDGLASS_OFFER(remove);
    SANDGLASS_OFFER(put_archive);
    SANDGLASS_OFFER(get_archive);
    SANDGLASS_OFFER(snapshot);
    SANDGLASS_OFFER(snapshots);
    SANDGLASS_OFFER(snapshot_delete);
    SANDGLASS_OFFER(fork);
    SANDGLASS_OFFER(forward);
    return made;
  }
  static constexpr sg_provider table = make();
};

}  // namespace providers

template <class T>
constexpr sg_type provider(const char* name, const char* summary) {
  return detail::make_type<T>(SG_KIND_PROVIDER, name, summary, &providers::ProviderTable<T>::table);
}

}  // namespace sdk1
}  // namespace sandglass

#endif  // SANDGLASS_CPP_PROVIDER_HPP
