#include "plugin/library.h"

#include <dlfcn.h>

#include <boost/dll/shared_library.hpp>
#include <exception>

#include "base/text.h"
#include "plugin/contain.h"
#include "plugin/rehearsal.h"

namespace sandglass::plugin {
namespace {

// What the loader said, out of "...load() failed (dlerror system message: <it>): Bad file
// descriptor".
std::string loader_text(std::string_view what) {
  constexpr std::string_view kBefore = "dlerror system message: ";
  const size_t at = what.find(kBefore);
  if (at == what.npos) return std::string(what);
  what.remove_prefix(at + kBefore.size());
  return std::string(what.substr(0, what.rfind("): ")));
}

// The text after `word` up to a comma or the end.
std::string after(std::string_view text, std::string_view word) {
  const size_t at = text.find(word);
  if (at == text.npos) return {};
  text.remove_prefix(at + word.size());
  return shown(text.substr(0, text.find_first_of(",\n")));
}

std::string explain_symbol(const std::string& symbol) {
  return "calls '" + symbol +
         "', which neither it nor the libraries it names have. Link it with all it needs "
         "(-Wl,-z,defs finds such a gap when it is built)";
}

std::string explain_version(std::string_view text) {
  const size_t from = text.find("version `");
  const std::string version(text.substr(from + 9, text.find('\'', from) - from - 9));
  return "needs " + shown(version) + ", which the library of this machine (" +
         shown(text.substr(0, text.find(':'))) +
         ") does not have. Build it on an older system, or " + "update this one";
}

std::string explain_library(std::string_view text, const Elf& elf) {
  const std::string name = shown(text.substr(0, text.find(':')));
  bool direct = false;
  for (const std::string& needed : elf.needed) direct = direct || needed == name;
  const std::string needs =
      "needs the library " + name + (direct ? "" : " (through another library)");
  if (text.find("No such file") != text.npos)
    return needs +
           ", which is not found. Install it, or put it beside the plugin and link the plugin "
           "with -Wl,-rpath,'$ORIGIN'";
  return needs + ", which cannot be loaded:" + std::string(text.substr(text.find(':') + 1));
}

std::string explain(const std::string& path, std::string_view text, const Elf& elf) {
  if (auto symbol = after(text, "undefined symbol: "); !symbol.empty())
    return explain_symbol(symbol);
  if (text.find("version `") != text.npos) return explain_version(text);
  if (text.find("failed to map segment") != text.npos)
    return "cannot be mapped as code: " + shown(text) +
           ". Is its file system mounted noexec? Copy it to another";
  const bool about_itself = text.substr(0, path.size()) == path;
  if (!about_itself && text.find(".so") < text.find(':')) return explain_library(text, elf);
  return "cannot be loaded: " + shown(text);
}

constexpr int kMode = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;

// Maps it and runs its constructors. One that may end the process is first tried in a child: a
// loader that is left in the middle keeps its lock.
Status construct(const std::string& path, const Elf& elf) {
  remember_host();
  const auto map = [&] { return contain([&] { ::dlopen(path.c_str(), kMode); }); };
  if (elf.ends_process)
    if (Status s = rehearse(map); !s) return s;
  try {
    const auto ended = map();
    if (!ended) return {};
    return fail(Fault::plugin, "calls " + ended->text() +
                                   " while it is loaded. A plugin's constructors must return");
  } catch (...) {
    return fail(Fault::plugin,
                "threw something while it was loaded. A plugin's constructors must not throw");
  }
}

}  // namespace

Result<const void*> load_symbol(const std::string& path, const std::string& symbol,
                                const Elf& elf) {
  namespace dll = boost::dll;
  if (Status s = construct(path, elf); !s) return tl::unexpected(s.error());
  try {
    dll::shared_library library(path, static_cast<dll::load_mode::type>(kMode));
    return static_cast<const void*>(&library.get<const char>(symbol));
  } catch (const std::exception& error) {
    return fail(Fault::plugin, explain(path, loader_text(error.what()), elf));
  } catch (...) {
    return fail(Fault::plugin,
                "threw something while it was loaded. A plugin's constructors must not "
                "throw");
  }
}

}  // namespace sandglass::plugin
