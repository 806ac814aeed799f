// Rule B6: our patches against `git diff` and `git apply` on generated edits.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>

#include "git/patch.h"
#include "repo.h"

namespace sandglass::git {

namespace {

using Random = std::mt19937;

struct File {
  uint32_t mode = 0100644;
  std::string bytes;
  bool operator==(const File&) const = default;
};
using Tree = std::map<std::string, File>;

std::string random_line(Random& random) {
  static const std::vector<std::string> kLines = {
      "int main() {",
      "}",
      "",
      "  return 0;",
      "\tx = 1;",
      "# heading",
      "def f(a):",
      "    pass",
      "-- sql",
      "++ plus",
      "$var = 2;",
      "_under score  ",
      "\xc3\xa4\xc3\xb6",
      "blank \xe9",
      "nonchar \xef\xbf\xbe x",
      "zero \xe2\x82",
      "uml " + std::string(74, 'u') + "\xc3\xa4\xc3\xa4",
      "caf\xe9",
      "@@ -1 +1 @@",
      "diff --git a/x b/x",
      "}",
      "{",
      "  }",
      "class Foo {" + std::string(100, 'z') + " end",
      "\\ No newline at end of file",
      " ",
      "\x0c"};
  std::string out = kLines[random() % kLines.size()];
  if (random() % 4 == 0) out += std::to_string(random() % 50);
  return out;
}

std::string random_text(Random& random) {
  static const std::vector<std::string> kEnds = {"\n", "\n", "\n", "\r\n", "\r", "mixed"};
  const std::string end = kEnds[random() % kEnds.size()];
  std::string out;
  for (size_t n = random() % (random() % 5 == 0 ? 300 : 30); n > 0; n--) {
    out += random_line(random);
    if (n > 1 || random() % 3) out += end == "mixed" ? (random() % 2 ? "\r\n" : "\n") : end;
  }
  return out;
}

std::string random_edit(Random& random, const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size() - 1);
    lines.push_back(text.substr(at, end + 1 - at));
    at = end + 1;
  }
  for (size_t n = random() % 6; n > 0; n--) {
    const size_t at = random() % (lines.size() + 1);
    const auto where = lines.begin() + static_cast<std::ptrdiff_t>(at);
    switch (random() % 4) {
      case 0:
        lines.insert(where, random_line(random) + "\n");
        break;
      case 1:
        if (at < lines.size()) lines.erase(where);
        break;
      case 2:
        if (at < lines.size()) *where = random_line(random) + "\n";
        break;
      default: {  // repeat a block, which is where the indent heuristic matters
        const size_t count = std::min<size_t>(lines.size() - at, random() % 5);
        std::vector<std::string> block(where, where + static_cast<std::ptrdiff_t>(count));
        lines.insert(where, block.begin(), block.end());
      }
    }
  }
  std::string out;
  for (const std::string& line : lines) out += line;
  if (random() % 8 == 0 && out.ends_with('\n')) out.pop_back();
  if (random() % 8 == 0) out += "\n";
  return out;
}

std::string random_name(Random& random, int number) {
  static const std::vector<std::string> kStems = {
      "plain",       "two words",    "\xc3\xa4 \xc3\xb6",
      "tab\there",   "new\nline",    "quo\"te",
      "back\\slash", "-dash",        "bad\xff utf",
      "a b/c d",     "dir/sub/file", "esc\x1b",
      "'",           "trail ",       "\x7f"};
  return kStems[random() % kStems.size()] + std::to_string(number) +
         (random() % 6 == 0 ? " end " : "");
}

File random_old(Random& random) {
  File out;
  if (random() % 12 == 0) return {0120000, "target " + std::to_string(random() % 9)};
  out.bytes = random_text(random);
  if (random() % 15 == 0) out.bytes += std::string("\0bin", 4);
  if (random() % 5 == 0) out.mode = 0100755;
  return out;
}

std::optional<File> random_new(Random& random, const File& old_file) {
  if (random() % 10 == 0) return std::nullopt;
  if (random() % 12 == 0) return random_old(random);
  File out = old_file;
  if (out.mode == 0120000) {
    if (random() % 2) out.bytes += "x";
    return out;
  }
  out.bytes = random_edit(random, old_file.bytes);
  if (random() % 6 == 0) out.mode ^= 0111;
  return out;
}

void put(const Repo& repo, const std::string& name, const File& file) {
  repo.remove(name);
  if (file.mode == 0120000) {
    std::filesystem::create_directories(std::filesystem::path(repo / name).parent_path());
    ASSERT_EQ(::symlink(file.bytes.c_str(), (repo / name).c_str()), 0);
    return;
  }
  repo.write(name, file.bytes);
  ::chmod((repo / name).c_str(), file.mode & 0777);
}

std::optional<File> get(const Repo& repo, const std::string& name) {
  struct stat st;
  if (::lstat((repo / name).c_str(), &st) < 0) return std::nullopt;
  if (S_ISLNK(st.st_mode))
    return File{0120000, std::filesystem::read_symlink(repo / name).string()};
  return File{st.st_mode & 0100 ? 0100755u : 0100644u, repo.read(name)};
}

// One text per path: git's output cut at its headers, a delete and add of one path together.
std::map<std::string, std::string> by_header(const std::string& all) {
  std::map<std::string, std::string> out;
  for (size_t at = 0; at < all.size();) {
    const size_t next = all.find("\ndiff --git ", at);
    const size_t end = next == std::string::npos ? all.size() : next + 1;
    const std::string patch = all.substr(at, end - at);
    out[patch.substr(0, patch.find('\n'))] += patch;
    at = end;
  }
  return out;
}

std::optional<Side> side(const std::optional<File>& file) {
  return file ? std::optional(Side{file->mode, file->bytes}) : std::nullopt;
}

}  // namespace

TEST(PatchProperty, MakePatch_RandomEdits_EqualsGitDiffAndApplies) {  // B6, B1, B13, B16
  const uint32_t seed = property_seed("PatchProperty");
  Random random(seed);
  const Repo repo;
  Tree before, after;
  for (int i = 0; i < 1500; i++) {
    const std::string name = random_name(random, i);
    if (random() % 10 != 0) before[name] = random_old(random);
    std::optional<File> now =
        before.count(name) ? random_new(random, before[name]) : random_old(random);
    if (now) after[name] = *now;
  }
  for (const auto& [name, file] : before) put(repo, name, file);
  repo.commit_all("before");
  for (const auto& [name, file] : before)
    if (!after.count(name)) repo.remove(name);
  for (const auto& [name, file] : after) put(repo, name, file);
  repo.git({"add", "-A"});
  const auto gits = by_header(repo.git({"diff", "--cached", "--full-index", "--no-renames"}));

  Tree all = before;
  all.insert(after.begin(), after.end());
  std::string applicable;
  size_t compared = 0, different = 0;
  for (const auto& [name, _] : all) {
    const auto old_file = before.count(name) ? std::optional(before[name]) : std::nullopt;
    const auto new_file = after.count(name) ? std::optional(after[name]) : std::nullopt;
    const std::string ours = make_patch(name, side(old_file), side(new_file)).value();
    applicable += make_patch(name, side(old_file), side(new_file), BinaryPatch::full).value();
    if (old_file == new_file) {
      EXPECT_EQ(ours, "");
      continue;
    }
    compared++;
    const auto found = gits.find(ours.substr(0, ours.find('\n')));
    if (found != gits.end() && found->second == ours) continue;
    if (++different <= 3)
      ADD_FAILURE_AT(__FILE__, __LINE__)
          << "seed " << seed << "\n--- git\n"
          << (found == gits.end() ? "(none)" : found->second) << "\n--- ours\n"
          << ours;
  }
  std::cout << compared << " patches, " << different << " differ from git's\n";
  EXPECT_EQ(gits.size(), compared);
  EXPECT_LE(different * 1000, compared * 5);

  repo.git({"reset", "-q", "--hard"});
  repo.git({"apply", "--check", "--whitespace=nowarn", "-"}, applicable);
  repo.git({"apply", "--whitespace=nowarn", "-"}, applicable);
  for (const auto& [name, _] : all) {
    const auto expected = after.count(name) ? std::optional(after[name]) : std::nullopt;
    EXPECT_TRUE(get(repo, name) == expected) << "seed " << seed << " " << name;
  }
}

}  // namespace sandglass::git
