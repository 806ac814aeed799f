// What one look found, by directory, and which directories it read to their end.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "find.h"

namespace poll {

struct Directory {
  std::string_view path;
  std::vector<const Record*> entries;
  bool complete = true;
};

class Look {
 public:
  // Throws where the output cannot be trusted at all: the command was killed, or cut short. `began`
  // and `ended` are times of this machine.
  Look(const Find& find, Said said, uint64_t began_ns, uint64_t ended_ns);
  Look(const Look&) = delete;
  Look& operator=(const Look&) = delete;

  const std::vector<Record>& records() const { return records_; }
  const std::vector<Directory>& directories() const { return directories_; }
  size_t incomplete() const;
  uint64_t began_ns() const { return began_ns_; }
  uint64_t ended_ns() const { return ended_ns_; }

 private:
  void group();
  void doubt(const Complaints& complaints);

  const uint64_t began_ns_, ended_ns_;
  const Said said_;
  std::vector<Record> records_;
  std::vector<Directory> directories_;
};

}  // namespace poll
