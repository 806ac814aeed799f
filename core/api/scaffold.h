// For authors of plugins: a first one to start from, and a look at one that was built.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace sandglass::api {

struct NewPlugin {
  std::string name;
  std::string kind;       // "hook", "watcher", "provider"
  std::string language;   // "c", "cpp", "rust"
  std::string directory;  // made; "" is the name, below the current one
};

struct MadePlugin {
  std::string directory;
  std::vector<std::string> files;     // below it, in order
  std::vector<std::string> commands;  // what to type there next: build it, run it
};

// Copies the sample of that kind and language (../share/sandglass/samples beside the executable)
// with the name put in everywhere. Fault::invalid: a name, kind or language that cannot be;
// Fault::exists: the directory or a shipped plugin of that name is there. A failure leaves nothing.
Result<MadePlugin> new_plugin(const NewPlugin& wanted);

struct CheckedPlugin {
  struct Type {
    std::string kind, name, summary;  // kind: "hook"
    bool has_schema = false;
  };
  std::string file, id, version, abi;  // abi: "1.0", what it was compiled against
  std::vector<Type> types;
  std::vector<std::string> problems;  // empty: usable. No file name in them
  std::vector<std::string> notes;     // usable all the same
};

// Loads one file, which runs its constructors, and says all that is wrong with its table and its
// schemas. Makes no instance.
CheckedPlugin check_plugin(const std::string& file);

}  // namespace sandglass::api
