// Which plugin files were looked at, what became of each, and the types they offer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

struct sg_type;

namespace sandglass::plugin {

struct Table;  // abi.h

// One type of one loaded plugin. The plugin is never unloaded. A copy stays valid without the
// registry.
struct Type {
  const sg_type* abi = nullptr;          // a copy of this host's size: every slot may be read
  std::shared_ptr<const sg_type> table;  // what abi points to, where the registry made it
  std::string kind;                      // "sandglass.hook/1"
  std::string name;                      // what YAML says after `use:`
  std::string summary;
  std::string schema;  // JSON Schema of `with:`, or empty
  uint32_t flags = 0;  // SG_TYPE_*
  std::string file, plugin_id, plugin_version;
};

struct Looked {
  std::string file;
  bool loaded = false;
  std::string sentence;  // refused: file, cause and cure; loaded: what it offers
  std::string plugin_id, plugin_version;
  std::vector<std::string> types;          // "hook log"
  std::vector<std::string> unknown_kinds;  // of types that this host cannot use
};

struct PluginFile {
  std::string path;
  std::string sha256;  // hex pin, or empty
  std::string where;   // "sandglass.yaml:3:11", for messages
};

class Registry {
 public:
  // In this order: `files`, each folder of SANDGLASS_PLUGIN_PATH (colon-separated), and the folder
  // of shipped plugins beside the executable (../lib/sandglass); in a folder, each *.so by name.
  // The same file is looked at once. A plugin with a type name (of one kind) that is already there
  // is refused with both paths named. Runs the plugins' constructors, on this thread. Nothing here
  // throws or ends the process.
  explicit Registry(std::vector<PluginFile> files = {});
  ~Registry();

  const std::vector<Looked>& looked() const { return looked_; }
  std::vector<const Type*> types() const;
  // kind is SG_KIND_*. An unknown name says what there is, and why a file that might have had it
  // was refused.
  Result<const Type*> find(std::string_view kind, std::string_view name) const;

 private:
  void look_in(const std::string& folder, bool must_exist);
  void look(const PluginFile& file);
  Status load(const PluginFile& file, Looked& looked);
  Status add(const Table& table, const std::string& file, Looked& looked);

  std::vector<Looked> looked_;
  std::vector<std::unique_ptr<Type>> types_;
  std::vector<std::pair<uint64_t, uint64_t>> loaded_;  // device and inode of each file
};

}  // namespace sandglass::plugin
