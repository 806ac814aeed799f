// Ignore rules of any bytes are asked about any path and answer in good time; the answer depends
// neither on what was asked before nor on who asks.
#include <algorithm>
#include <vector>

#include "fuzz.h"
#include "git/ignore.h"

using namespace sandglass;

namespace {

using Answer = std::optional<git::IgnoreMatch>;

bool same(const Answer& a, const Answer& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return a->file == b->file && a->line == b->line && a->pattern == b->pattern &&
         a->ignored == b->ignored;
}

git::IgnoreSet rules(std::string_view bytes) {
  git::IgnoreSet set;
  set.everywhere = git::IgnoreFile::parse(bytes);
  set.of_directory = [file = set.everywhere](std::string_view directory) {
    return directory == "a" ? file : std::shared_ptr<const git::IgnoreFile>();
  };
  return set;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const size_t line = all.find('\n');
  if (line == all.npos || line == 0) return 0;
  const std::string path(all.substr(0, line));
  const std::vector<std::string> asked{path, "a/" + path, path + "/x",
                                       path.substr(0, path.rfind('/')), "a"};
  const git::IgnoreSet set = rules(all.substr(line + 1)), other = rules(all.substr(line + 1));
  std::vector<Answer> answers;
  for (const std::string& one : asked)
    if (!one.empty()) answers.push_back(git::check_ignore(set, one, false));
  std::reverse(answers.begin(), answers.end());
  size_t at = 0;
  for (auto one = asked.rbegin(); one != asked.rend(); ++one)
    if (!one->empty())
      fuzz::require(same(answers[at++], git::check_ignore(other, *one, false)),
                    "the same question has the same answer", *one);
  return 0;
}
