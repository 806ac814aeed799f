// Keeps a plugin that ends the process from ending the host: exit(), quick_exit(), _exit() and
// _Exit() of this program stand before those of libc, for plugins too (CMakeLists.txt exports
// them), and know whether the calling thread is inside a plugin. pthread_exit() is held back there
// as well.
//
// What cannot be held back: abort(), signals, the system call itself, and exit() called within libc
// (err(), error()).
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace sandglass::plugin {

// What a plugin called to end the process.
struct Ended {
  const char* by = "exit";
  int code = 0;
  const void* caller = nullptr;  // an address in the code that called it
  std::string text() const;      // "exit(3)"
};

// Runs fn, which enters a plugin. When the plugin ends the process in there, the process lives on
// and this says what was called: the plugin's frames are left by siglongjmp, so nothing in them is
// unwound, and fn itself may hold nothing that has to be. Nests. Any thread; an exception passes.
//
// Elsewhere those functions do what they always did: in a child of a fork, on the main thread, in
// code that was in the process before the first plugin. On a thread that a plugin started the
// thread stops for good, and the plugin is named in the log.
std::optional<Ended> contain(const std::function<void()>& fn);

// Leaves the plugin after all: for one of the host's functions that a plugin had called, whose
// callback ended the process, and that has put its own things in order since.
[[noreturn]] void leave(const Ended& ended);

// To be called before a plugin is mapped: the first time, what is in the process is the host's.
void remember_host();

// A thread that the plugin in this file started has ended the process; it was stopped.
bool has_stopped_thread(const std::string& file);

}  // namespace sandglass::plugin
