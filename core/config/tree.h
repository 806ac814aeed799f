// Builds the tree from a parser's events, one call each. Knows nothing of the parser.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "config/yaml.h"

namespace sandglass::config {

// Ends the reading; thrown through the parser, caught in yaml.cc and nowhere else.
struct Stop {
  Problem problem;
};

class Tree {
 public:
  explicit Tree(const Source& source) : source_(source) {}

  // `anchor` is 0 for none. Each may throw Stop.
  void scalar(Value value, size_t anchor);
  void open(Kind kind, const Place& place, size_t anchor);
  void close();
  void alias(const Place& place, size_t anchor);

  void problem(const Place& place, const std::string& what);
  // A key waits for its value: the place of the key, else null.
  const Value* waiting_key() const;
  bool at_key() const;  // the next scalar of this map is a key
  Value take_root() { return std::move(root_); }
  std::vector<Problem> take_problems() { return std::move(problems_); }

 private:
  struct Branch {  // a finished value, what it costs and how deep it goes
    Value value;
    size_t nodes = 1;
    int height = 0;
  };
  struct Frame {
    Branch branch;
    size_t anchor = 0;
    Value key;
    bool has_key = false;
    std::unordered_map<std::string, Place> seen;
    std::vector<Branch> merges;
  };

  void finish(Branch branch, size_t anchor);
  void add(Branch branch);
  void add_key(Value key);
  void add_entry(Frame& frame, Branch branch);
  void merge(Frame& frame);
  void merge_map(Frame& frame, Value&& from);
  void spend(size_t nodes, const Place& place);
  void check_depth(int depth, const Place& place);
  std::string path() const;

  const Source& source_;
  std::vector<Frame> frames_;
  std::unordered_map<size_t, Branch> anchors_;
  Value root_;
  std::vector<Problem> problems_;
  size_t nodes_ = 0;
  size_t kept_ = 0;  // nodes copied for anchors
};

}  // namespace sandglass::config
