#include "proc/process_source.h"

#ifndef SANDGLASS_BPF_OBJECT

namespace sandglass::proc {
Result<std::unique_ptr<ProcessSource>> open_bpf_source() {
  return fail(Fault::unsupported, "this sandglass was built without BPF");
}
}  // namespace sandglass::proc

#else

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

// SANDGLASS_BPF_OBJECT is the path of the compiled processes.bpf.c; the section holds its bytes.
asm(".pushsection .rodata\n"
    ".balign 16\n"
    "sandglass_processes_begin:\n"
    ".incbin \"" SANDGLASS_BPF_OBJECT
    "\"\n"
    "sandglass_processes_end:\n"
    ".byte 0\n"
    ".popsection\n");
extern "C" {
extern const char sandglass_processes_begin[] __attribute__((visibility("hidden")));
extern const char sandglass_processes_end[] __attribute__((visibility("hidden")));
}

namespace sandglass::proc {
namespace {

struct Told {  // as processes.bpf.c writes it
  uint32_t kind;
  int32_t pid, ppid;
  uint32_t size;
  uint64_t at;
};

// What is traced has the numbers of the first pid namespace.
bool in_first_pid_namespace() {
  std::array<char, 64> name{};
  const ssize_t n = ::readlink("/proc/self/ns/pid", name.data(), name.size());
  return n > 0 && std::string_view(name.data(), static_cast<size_t>(n)) == "pid:[4026531836]";
}

class BpfSource final : public ProcessSource {
 public:
  ~BpfSource() override {
    ::ring_buffer__free(ring_);
    for (bpf_link* link : links_) ::bpf_link__destroy(link);
    ::bpf_object__close(object_);
  }

  Status open() {
    ::libbpf_set_print(nullptr);  // stderr is the log's
    LIBBPF_OPTS(bpf_object_open_opts, options);
    options.object_name = "sandglass";
    const auto size = static_cast<size_t>(sandglass_processes_end - sandglass_processes_begin);
    // The section's bytes need an alignment that the ELF reader relies on: 16 is enough.
    object_ = ::bpf_object__open_mem(sandglass_processes_begin, size, &options);
    if (!object_) return why("cannot read the BPF programs");
    if (::bpf_object__load(object_) != 0) return why("the kernel takes no BPF programs");
    bpf_program* program = nullptr;
    while ((program = ::bpf_object__next_program(object_, program))) {
      bpf_link* link = ::bpf_program__attach(program);
      if (!link)
        return why("the BPF program " + std::string(::bpf_program__name(program)) +
                   " cannot be attached");
      links_.push_back(link);
    }
    const int map = ::bpf_object__find_map_fd_by_name(object_, "ring");
    ring_ = ::ring_buffer__new(map, &BpfSource::on_record, this, nullptr);
    if (!ring_) return why("the BPF ring buffer cannot be mapped");
    data_ = ::bpf_object__find_map_by_name(object_, ".bss");
    return {};
  }

  int fd() const override { return ::ring_buffer__epoll_fd(ring_); }

  void drain(const std::function<void(const ProcessEvent&)>& take) override {
    take_ = &take;
    ::ring_buffer__consume(ring_);
    take_ = nullptr;
    const uint64_t dropped = count_dropped();
    if (dropped == dropped_) return;
    dropped_ = dropped;
    take(ProcessEvent{});
  }

 private:
  static int on_record(void* self, void* data, size_t size) {
    const auto& told = *static_cast<const Told*>(data);
    ProcessEvent event;
    event.kind = static_cast<ProcessEvent::Kind>(told.kind);
    event.pid = told.pid;
    event.ppid = told.ppid;
    event.at_ns = static_cast<int64_t>(told.at);
    const size_t room = size - sizeof told;
    event.arguments = {reinterpret_cast<const char*>(&told + 1), std::min<size_t>(told.size, room)};
    (*static_cast<BpfSource*>(self)->take_)(event);
    return 0;
  }
  // Mapped by the loader: one word.
  uint64_t count_dropped() const {
    size_t size = 0;
    const void* bytes = data_ ? ::bpf_map__initial_value(data_, &size) : nullptr;
    if (!bytes || size < sizeof(uint64_t)) return 0;
    return __atomic_load_n(static_cast<const uint64_t*>(bytes), __ATOMIC_RELAXED);
  }
  static Status why(const std::string& what) { return fail_errno(errno, what); }

  bpf_object* object_ = nullptr;
  std::vector<bpf_link*> links_;
  ring_buffer* ring_ = nullptr;
  bpf_map* data_ = nullptr;
  uint64_t dropped_ = 0;
  const std::function<void(const ProcessEvent&)>* take_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<ProcessSource>> open_bpf_source() {
  if (!in_first_pid_namespace())
    return fail(Fault::unsupported, "BPF tells pids of the first pid namespace, this is another");
  auto source = std::make_unique<BpfSource>();
  if (Status opened = source->open(); !opened) return tl::unexpected(opened.error());
  return source;
}

}  // namespace sandglass::proc

#endif
