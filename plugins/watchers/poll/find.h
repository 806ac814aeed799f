// One look at a tree by `find`, in the words of the tools that are there.
//
// GNU find prints all itself (-printf), each record ended by NUL. Others run stat for it: a record
// begins with "//" at the start of a line, which no path that find prints can hold, so no name can
// pass for the beginning of another record.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "box.h"

namespace poll {

// A name below the root, as one look found it. Views are into the output it was read from.
struct Record {
  std::string_view path;  // "a/b"; empty for the root
  char type = 'o';        // 'f', 'd', 'l', 'o'; '?' where it could not be told
  uint32_t mode = 0;
  uint64_t inode = 0, size = 0;
  int64_t mtime_ns = 0, ctime_ns = 0;

  std::string_view dir() const;
  std::string_view name() const;
};

// The directory to watch is not there.
struct NoRoot : sandglass::Error {
  explicit NoRoot(const std::string& where)
      : Error(SG_E_NOT_FOUND, "the directory " + where + " is not there") {}
};

class Find {
 public:
  // Tries the tools once. Throws what is missing.
  Find(const Box& box, sandglass::Call call, const std::vector<std::string>& ignore);

  const Argv& command() const { return command_; }
  const char* tools() const { return prints_ ? "find -printf" : "find and stat"; }
  // False where the output is none of this command.
  bool read(std::string_view out, std::vector<Record>& records) const;

 private:
  bool prints_ = false;
  Argv command_;
};

// What find and stat complained about. Names in it are the sandbox's, so a complaint can only make
// less of the look count, never more.
struct Complaints {
  bool all = false;  // one that names no place
  // Below the root: as it stands there, and without the escapes that some write.
  struct Place {
    std::string written, plain;
  };
  std::vector<Place> places;
};
Complaints complaints_of(const Said& said);

}  // namespace poll
