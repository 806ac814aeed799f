// gitattributes with git's meaning (gitattributes(5)), as far as line ends go: which of `text`,
// `crlf` and `eol` a path has, through macros or not.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "git/ignore.h"

namespace sandglass::git {

struct AttributeValue {
  enum class State { unspecified, set, unset, text };
  State state = State::unspecified;
  std::string text;  // of State::text
  bool operator==(const AttributeValue&) const = default;
};

struct LineAttributes {
  AttributeValue text, crlf, eol;
  bool operator==(const LineAttributes&) const = default;
};

// "text", "-text", "!text", "eol=lf".
struct Assignment {
  std::string name;
  AttributeValue value;
};
using Macros = std::map<std::string, std::vector<Assignment>, std::less<>>;

// The lines of one file that may say something about line ends. Immutable, any thread.
class AttributeFile {
 public:
  // Macros may be defined at the top of a repository only; they are added to `macros`, the last
  // definition of a name wins.
  static void read_macros(std::string_view bytes, Macros& macros);
  static std::shared_ptr<const AttributeFile> parse(std::string_view bytes, const Macros& macros);

  // Calls with the assignments of each line that speaks of the path, the last line first. `path`
  // is below the file's directory.
  void for_each_match(std::string_view path,
                      const std::function<void(const std::vector<Assignment>&)>& call) const;

  size_t lines() const { return lines_.size(); }

 private:
  struct Line {
    IgnorePattern pattern;
    std::vector<Assignment> assignments;
  };
  std::vector<Line> lines_;
};

// Of the whole repository. `binary` is always among the macros.
struct AttributeSet {
  // The file of a directory ("" is the repository's root), or null.
  std::function<std::shared_ptr<const AttributeFile>(std::string_view directory)> of_directory;
  std::shared_ptr<const AttributeFile> info;  // strongest; may be null
  const Macros* macros = nullptr;
};

// `path` is a file's, below the repository's root.
LineAttributes line_attributes(const AttributeSet& set, std::string_view path);

// The macros every repository has.
Macros built_in_macros();

}  // namespace sandglass::git
