#include "plugin/contain.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

#include "base/log.h"
#include "base/text.h"

extern "C" const char __executable_start, _end;  // the linker's

namespace sandglass::plugin {
namespace {

// ---- the functions behind ours ----

template <class F>
F next(const char* name) {
  return reinterpret_cast<F>(::dlsym(RTLD_NEXT, name));
}
using End = void (*)(int);
struct Real {
  const char* name;
  std::atomic<End> end{nullptr};
};
// By the time a plugin or a child of a fork calls one, nothing has to be looked up any more.
Real real_exit{"exit"}, real_quick_exit{"quick_exit"}, real__exit{"_exit"}, real__Exit{"_Exit"};

End found(Real& real) {
  if (!real.end) real.end = next<End>(real.name);
  return real.end;
}

[[noreturn]] void really(Real& real, int code) {
  if (const End end = found(real)) end(code);
  ::syscall(SYS_exit_group, code);
  __builtin_unreachable();
}

[[maybe_unused]] const bool looked_up = [] {
  for (Real* real : {&real_exit, &real_quick_exit, &real__exit, &real__Exit}) found(*real);
  return true;
}();

// ---- where a thread is ----

struct Frame {
  Frame* outer;
  pid_t process;
  Ended ended;
  sigjmp_buf back;
};
thread_local Frame* inside = nullptr;

// ---- whose code it is ----

struct Plugins {
  std::mutex mutex;
  std::vector<const void*> host;     // where the objects lie that were there before any plugin
  std::vector<std::string> stopped;  // files that have stopped threads
  std::atomic<bool> any_stopped{false};
};

// Never destroyed: a plugin's thread may come here while the process ends.
Plugins& plugins() {
  static auto* all = new Plugins;
  return *all;
}

// The file of the plugin, or of a library it brought along; empty for the host's own code, which is
// known without the loader: it may be stuck in a plugin.
std::string foreign_file(const void* code) {
  if (code >= &__executable_start && code < &_end) return {};
  Dl_info object{};
  if (::dladdr(code, &object) == 0 || !object.dli_fname) return {};
  Plugins& all = plugins();
  const std::lock_guard lock(all.mutex);
  const bool known =
      std::find(all.host.begin(), all.host.end(), object.dli_fbase) != all.host.end();
  return known || all.host.empty() ? "" : object.dli_fname;
}

bool is_main_thread() {
  return ::syscall(SYS_gettid) == ::getpid();
}

// Nobody can return from there, and nothing of the thread may be unwound.
[[noreturn]] void stop_thread(const Ended& ended, const std::string& file) {
  Plugins& all = plugins();
  bool first = false;
  {
    const std::lock_guard lock(all.mutex);
    first = std::find(all.stopped.begin(), all.stopped.end(), file) == all.stopped.end();
    if (first) all.stopped.push_back(file);
    all.any_stopped = true;
  }
  if (first)
    log::error(
        "plugin " + shown(file) + " called " + ended.text() +
        " on a thread of its own: the thread is stopped for good, and the plugin is not used "
        "any more; restart sandglass to use it again");
  sigset_t every;
  ::sigfillset(&every);
  ::pthread_sigmask(SIG_SETMASK, &every, nullptr);
  for (;;) ::pause();
}

// Returns where the process, or the thread, may end.
void hold_back(const Ended& ended) {
  if (inside && inside->process == ::getpid()) {
    inside->ended = ended;
    ::siglongjmp(inside->back, 1);
  }
  if (is_main_thread()) return;  // that of a fork's child, too
  if (const std::string file = foreign_file(ended.caller); !file.empty()) stop_thread(ended, file);
}

// The instruction after a call that does not return may belong to the next function.
const void* call_before(void* return_address) {
  return static_cast<const char*>(return_address) - 1;
}

}  // namespace

std::string Ended::text() const {
  return std::string(by) + "(" +
         (std::strcmp(by, "pthread_exit") == 0 ? "" : std::to_string(code)) + ")";
}

std::optional<Ended> contain(const std::function<void()>& fn) {
  Frame frame{inside, ::getpid(), {}, {}};
  struct Restore {
    Frame* outer;
    ~Restore() { inside = outer; }
  } const restore{frame.outer};
  if (sigsetjmp(frame.back, 1) != 0) return frame.ended;
  inside = &frame;
  fn();
  return std::nullopt;
}

void leave(const Ended& ended) {
  hold_back(ended);
  really(real_exit, ended.code);
}

void remember_host() {
  Plugins& all = plugins();
  const std::lock_guard lock(all.mutex);
  if (!all.host.empty()) return;
  std::vector<const void*> codes;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* list) {
        const auto* end = info->dlpi_phdr + info->dlpi_phnum;
        const auto* code = std::find_if(info->dlpi_phdr, end, [](const auto& segment) {
          return segment.p_type == PT_LOAD && (segment.p_flags & PF_X);
        });
        if (code != end)
          static_cast<std::vector<const void*>*>(list)->push_back(
              reinterpret_cast<const void*>(info->dlpi_addr + code->p_vaddr));
        return 0;
      },
      &codes);
  for (const void* code : codes) {
    Dl_info object{};
    if (::dladdr(code, &object) != 0) all.host.push_back(object.dli_fbase);
  }
}

bool has_stopped_thread(const std::string& file) {
  Plugins& all = plugins();
  if (!all.any_stopped) return false;
  const std::lock_guard lock(all.mutex);
  return std::find(all.stopped.begin(), all.stopped.end(), file) != all.stopped.end();
}

}  // namespace sandglass::plugin

// ---- what plugins, and we, call ----

namespace plugin = sandglass::plugin;

#define SANDGLASS_SEEN extern "C" __attribute__((visibility("default"), noreturn))

SANDGLASS_SEEN void exit(int code) noexcept {
  plugin::hold_back({"exit", code, plugin::call_before(__builtin_return_address(0))});
  plugin::really(plugin::real_exit, code);
}

SANDGLASS_SEEN void quick_exit(int code) noexcept {
  plugin::hold_back({"quick_exit", code, plugin::call_before(__builtin_return_address(0))});
  plugin::really(plugin::real_quick_exit, code);
}

SANDGLASS_SEEN void _exit(int code) {
  plugin::hold_back({"_exit", code, plugin::call_before(__builtin_return_address(0))});
  plugin::really(plugin::real__exit, code);
}

SANDGLASS_SEEN void _Exit(int code) noexcept {
  plugin::hold_back({"_Exit", code, plugin::call_before(__builtin_return_address(0))});
  plugin::really(plugin::real__Exit, code);
}

// Of a plugin's own thread it is as good as returning.
SANDGLASS_SEEN void pthread_exit(void* value) {
  if (plugin::inside) plugin::hold_back({"pthread_exit", 0, nullptr});
  static const auto real = plugin::next<void (*)(void*)>("pthread_exit");
  real(value);
  __builtin_unreachable();
}
