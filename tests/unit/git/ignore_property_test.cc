// Our ignore rules against `git check-ignore` on generated patterns and trees.
#include <gtest/gtest.h>

#include <map>

#include "git/ignore.h"
#include "repo.h"

namespace sandglass::git {

namespace {

using Random = std::mt19937;

template <class T>
const T& pick(Random& random, const std::vector<T>& from) {
  return from[random() % from.size()];
}

const std::vector<std::string> kNames = {
    "a",  "b",     "ab",  "abc",  "foo", "bar", "x.c", "y.o",   ".env", "a b",
    "a ", "[",     "[a]", "a\\b", "!x",  "#x",  "a*",  "b-c",   "1",    "\xc3\xa4",
    "A",  "foo.d", "\\a", "a]",   "^",   "-",   "dir", "a\x01z"};

const std::vector<std::string> kAtoms = {"a",
                                         "b",
                                         "c",
                                         "foo",
                                         "bar",
                                         "*",
                                         "**",
                                         "?",
                                         "/",
                                         "/",
                                         "/",
                                         "**/",
                                         "/**",
                                         "/**/",
                                         "[ab]",
                                         "[!a]",
                                         "[^b]",
                                         "[a-c]",
                                         "[]]",
                                         "[",
                                         "[[:alpha:]]",
                                         "[[:digit:]]",
                                         "[[:punct:]a]",
                                         "[[:space:]]",
                                         "[[:bogus:]]",
                                         "\\a",
                                         "\\",
                                         "\\*",
                                         "\\[",
                                         "\\ ",
                                         " ",
                                         "*.c",
                                         ".",
                                         "!",
                                         "#",
                                         "-",
                                         "[a-]",
                                         "[-a]",
                                         "[\\]]",
                                         "***",
                                         "[a",
                                         "\xc3\xa4",
                                         "\\!",
                                         "[[:upper:][:digit:]]",
                                         "[z-a]",
                                         "x",
                                         "[!]a]",
                                         "dir",
                                         "[a-\\c]",
                                         "[[:alpha:",
                                         "\\\\"};

std::string random_pattern(Random& random) {
  if (random() % 4 == 0) {  // close to real life
    std::string out = random() % 3 == 0 ? "!" : "";
    if (random() % 3 == 0) out += "/";
    out += pick(random, kNames);
    if (random() % 2) out += "/" + pick(random, kNames);
    if (random() % 4 == 0) out += "/*";
    if (random() % 4 == 0) out += "/";
    return out;
  }
  std::string out;
  if (random() % 5 == 0) out += "!";
  for (size_t n = 1 + random() % 5; n > 0; n--) out += pick(random, kAtoms);
  if (random() % 8 == 0) out += "  ";
  return out;
}

std::string random_file(Random& random) {
  std::string out = random() % 20 == 0 ? "\xef\xbb\xbf" : "";
  for (size_t n = 1 + random() % 7; n > 0; n--) {
    out += random_pattern(random);
    out += random() % 10 == 0 ? "\r\n" : n == 1 && random() % 3 == 0 ? "" : "\n";
    if (random() % 10 == 0) out += "\n# comment\n";
  }
  return out;
}

// Paths and whether each is a directory.
std::map<std::string, bool> random_tree(Random& random, const Repo& repo) {
  std::map<std::string, bool> out;
  for (int i = 0; i < 40; i++) {
    std::string path;
    const size_t depth = random() % 4;
    bool blocked = false;
    for (size_t d = 0; d < depth && !blocked; d++) {
      path += pick(random, kNames);
      blocked = out.count(path) && !out[path];
      if (!blocked) out[path] = true;
      path += '/';
    }
    path += pick(random, kNames);
    if (blocked || out.count(path)) continue;
    out[path] = false;
    repo.write(path, "");
  }
  return out;
}

void clear(const Repo& repo) {
  for (const auto& entry : std::filesystem::directory_iterator(repo.path()))
    if (entry.path().filename() != ".git") std::filesystem::remove_all(entry.path());
  repo.write(".git/info/exclude", "");
}

struct Verdict {
  std::string file, line, pattern;
  bool operator==(const Verdict&) const = default;
};
std::ostream& operator<<(std::ostream& to, const Verdict& v) {
  return to << v.file << ":" << v.line << ":" << ::testing::PrintToString(v.pattern);
}

std::map<std::string, Verdict> ask_git(const Repo& repo, const std::map<std::string, bool>& tree) {
  std::string input;
  for (const auto& [path, _] : tree) input += path + '\0';
  const GitRun run =
      run_git(repo.path(), {"check-ignore", "-v", "-n", "--no-index", "-z", "--stdin"}, input);
  std::vector<std::string> fields;
  for (size_t at = 0; at < run.out.size();) {
    const size_t end = run.out.find('\0', at);
    fields.push_back(run.out.substr(at, end - at));
    at = end + 1;
  }
  std::map<std::string, Verdict> out;
  for (size_t i = 0; i + 3 < fields.size(); i += 4)
    out[fields[i + 3]] = {fields[i], fields[i + 1], fields[i + 2]};
  return out;
}

Verdict ask_us(const Repo& repo, const std::string& path, bool is_directory) {
  IgnoreSet set;
  set.of_directory = [&](std::string_view directory) {
    return IgnoreFile::parse(repo.read(std::string(directory) + "/.gitignore"));
  };
  set.everywhere = IgnoreFile::parse(repo.read(".git/info/exclude"));
  const std::optional<IgnoreMatch> match = check_ignore(set, path, is_directory);
  if (!match) return {};
  return {match->file.empty() ? ".git/info/exclude" : match->file, std::to_string(match->line),
          match->pattern};
}

}  // namespace

// K27 and B8: libgit2's own matcher differs from git's; ours must not.
TEST(IgnoreProperty, CheckIgnore_GeneratedPatterns_AgreesWithGit) {
  const uint32_t seed = property_seed("IgnoreProperty");
  size_t compared = 0, decided = 0, different = 0;
  const Repo repo;
  for (uint32_t round = 0; round < 150 && different < 5; round++) {
    Random random(seed + round);
    clear(repo);
    const std::map<std::string, bool> tree = random_tree(random, repo);
    repo.write(".gitignore", random_file(random));
    for (const auto& [path, is_directory] : tree)
      if (is_directory && random() % 3 == 0) repo.write(path + "/.gitignore", random_file(random));
    if (random() % 2) repo.write(".git/info/exclude", random_file(random));
    const std::map<std::string, Verdict> expected = ask_git(repo, tree);
    ASSERT_EQ(expected.size(), tree.size()) << "round " << round;
    for (const auto& [path, is_directory] : tree) {
      const Verdict ours = ask_us(repo, path, is_directory);
      EXPECT_EQ(ours, expected.at(path))
          << "seed " << seed << " round " << round << " path " << ::testing::PrintToString(path);
      different += ours == expected.at(path) ? 0 : 1;
      compared++;
      decided += ours.pattern.empty() ? 0 : 1;
    }
  }
  std::cout << compared << " paths compared, " << decided << " decided by a pattern\n";
  EXPECT_GT(decided, compared / 10);
}

}  // namespace sandglass::git
