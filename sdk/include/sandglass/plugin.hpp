// sandglass/plugin.hpp - the C++17 wrapper over plugin.h. Header only; a plugin links nothing.
//
//   #include <sandglass/plugin.hpp>
//
//   struct Counter {
//     static constexpr uint64_t interests = SG_EV_FILES;
//     Counter(sandglass::Host, const sandglass::Config&) {}
//     void on_event(sandglass::Call, const sandglass::Event& e) { bytes += e.path().size(); }
//     uint64_t bytes = 0;
//   };
//
//   SANDGLASS_PLUGIN("com.example.counter", "1.0.0",
//                    sandglass::hook<Counter>("counter", "Counts path bytes"))
//
// What a function throws becomes a status with its text: sandglass::Error carries both, bad_alloc
// is SG_E_NO_MEMORY, anything else SG_E_FAILED. The rules of plugin.h about threads, memory and
// lifetimes hold unchanged; each wrapper below is a view, to be copied freely and kept no longer
// than what it looks at.
#ifndef SANDGLASS_PLUGIN_HPP
#define SANDGLASS_PLUGIN_HPP

#include <sandglass/cpp/event.hpp>
#include <sandglass/cpp/hook.hpp>
#include <sandglass/cpp/host.hpp>
#include <sandglass/cpp/provider.hpp>
#include <sandglass/cpp/table.hpp>
#include <sandglass/cpp/text.hpp>
#include <sandglass/cpp/watcher.hpp>

#endif  // SANDGLASS_PLUGIN_HPP
