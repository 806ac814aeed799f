// Writing a pack file of whole objects with its index (version 2), as every git reads them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/fd.h"
#include "git/oid.h"

namespace sandglass::git {

struct OidHash {
  size_t operator()(const Oid& id) const;
};

// One thread. What was not finished is removed with the object; what a process that was killed left
// begins with "tmp-".
class PackWriter {
 public:
  // finish() makes FOLDER/NAME.pack and .idx. The folder is ours alone.
  static Result<std::unique_ptr<PackWriter>> create(const std::string& folder,
                                                    const std::string& name);
  ~PackWriter();

  bool has(const Oid& id) const { return known_.count(id) != 0; }
  size_t count() const { return entries_.size(); }
  uint64_t bytes() const { return offset_; }  // written or about to be

  // The caller has proven that `id` is the object's. Twice the same is once.
  Status add(ObjectType type, std::string_view bytes, const Oid& id);
  // `sync`: on the disk when it returns.
  Status finish(bool sync);

 private:
  struct Entry {
    Oid id;
    uint32_t crc;
    uint64_t offset;
  };
  struct Deflater;
  PackWriter(std::string folder, std::string name, Fd file);
  Status flush();
  Status seal(std::string& checksum);
  Status write_index(const std::string& checksum, bool sync);
  std::string temporary(const char* suffix) const;

  const std::string folder_, name_;
  Fd file_;
  std::unique_ptr<Deflater> deflater_;
  std::string buffer_;
  uint64_t offset_ = 0;
  std::vector<Entry> entries_;
  std::unordered_map<Oid, char, OidHash> known_;
  bool finished_ = false;
};

}  // namespace sandglass::git
