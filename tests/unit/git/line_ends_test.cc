// Rule B6a against the real git: before() is what a checkout writes, diff() what `git diff` prints,
// and `git apply` in such a checkout makes after() of it.
#include <gtest/gtest.h>

#include <iostream>
#include <map>

#include "git/conversion.h"
#include "git/repositories.h"
#include "git/patch.h"
#include "repo.h"

namespace sandglass::git {

namespace {

using Random = std::mt19937;

template <class T>
const T& one_of(Random& random, const std::vector<T>& all) {
  return all[random() % all.size()];
}

std::string random_text(Random& random) {
  static const std::vector<std::string> kEnds = {"\n", "\r\n", "mixed", "\n", "\r\n", "\n"};
  const std::string end = one_of(random, kEnds);
  std::string out;
  for (size_t n = random() % 12; n > 0; n--) {
    out += "line " + std::to_string(random() % 9);
    if (random() % 60 == 0) out += '\r';
    if (random() % 60 == 0) out += '\x01';
    if (n > 1 || random() % 4) out += end != "mixed" ? end : random() % 2 ? "\r\n" : "\n";
  }
  if (random() % 25 == 0) out += std::string("\0", 1);
  if (random() % 25 == 0) out += '\x1a';
  return out;
}

std::string random_edit(Random& random, std::string text) {
  switch (random() % 6) {
    case 0:
      return random_text(random);
    case 1: {  // what many tools do: the whole file with plain line ends
      std::erase(text, '\r');
      return text;
    }
    case 2:
      return text + "more";
    default: {
      const size_t at = text.find("line");
      return at == text.npos ? "line x\r\n" : text.replace(at, 4, "LINE");
    }
  }
}

std::string attribute_line(Random& random) {
  static const std::vector<std::string> kPatterns = {"*", "*.a", "*.b", "d/*", "f1*", "f2?.b"};
  static const std::vector<std::string> kOnes = {"text",
                                                 "-text",
                                                 "text=auto",
                                                 "text eol=lf",
                                                 "eol=crlf",
                                                 "crlf",
                                                 "-crlf",
                                                 "!text",
                                                 "text=auto eol=crlf",
                                                 "text=auto eol=lf",
                                                 "crlf=input",
                                                 "filter=evil ident"};
  return one_of(random, kPatterns) + " " + one_of(random, kOnes) + "\n";
}

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

bool is_mixed(const std::string& text) {
  const size_t both = text.find("\r\n");
  if (both == text.npos) return false;
  for (size_t at = text.find('\n'); at != text.npos; at = text.find('\n', at + 1))
    if (at == 0 || text[at - 1] != '\r') return true;
  return false;
}

// A commit with exactly these blobs, whatever the configuration, and its checkout.
void commit_raw(const Repo& repo, const std::map<std::string, std::string>& blobs) {
  std::string index, paths;
  for (const auto& [name, bytes] : blobs) repo.write("raw/" + name, bytes);
  for (const auto& [name, bytes] : blobs) paths += repo / ("raw/" + name) + "\n";
  const std::string ids = repo.git({"hash-object", "-w", "--no-filters", "--stdin-paths"}, paths);
  size_t at = 0;
  for (const auto& [name, bytes] : blobs) {
    index += "100644 " + ids.substr(at, 40) + "\t" + name + "\n";
    at += 41;
  }
  repo.remove("raw");
  repo.git({"update-index", "--index-info"}, index);
  repo.git({"commit", "-q", "-m", "raw"});
  repo.git({"reset", "-q", "--hard"});
}

struct Tally {
  size_t compared = 0, different = 0, unnormalized = 0, exact = 0;
};

void one_round(uint32_t seed, Tally& tally) {
  Random random(seed);
  const Repo repo;
  static const std::vector<std::string> kAuto = {"", "", "true", "input", "false", "TRUE"};
  if (const std::string value = one_of(random, kAuto); !value.empty())
    repo.git({"config", "core.autocrlf", value});
  else if (random() % 2)
    repo.git({"config", "core.eol", random() % 2 ? "crlf" : "lf"});
  std::map<std::string, std::string> blobs;
  for (int i = 0; i < 25; i++)
    blobs[std::string(i % 3 ? "" : "d/") + "f" + std::to_string(i) + (i % 2 ? ".a" : ".b")] =
        random_text(random);
  for (const char* name : {".gitattributes", "d/.gitattributes"})
    for (size_t n = random() % 3; n > 0; n--) blobs[name] += attribute_line(random);
  if (random() % 3 == 0) repo.write(".git/info/attributes", attribute_line(random));
  commit_raw(repo, blobs);

  const auto content = open_content(repo.path());
  std::map<std::string, std::string> before, after;
  for (const auto& [name, bytes] : blobs) {
    before[name] = repo.read(name);
    EXPECT_EQ(content->get(name, Which::before).bytes, before[name])
        << "seed " << seed << " " << name;
    EXPECT_EQ(content->get(name, Which::diff).bytes, "") << "seed " << seed << " " << name;
  }
  for (const auto& [name, bytes] : blobs) {
    if (name.ends_with("attributes")) continue;
    after[name] = random_edit(random, before[name]);
    repo.write(name, after[name]);
  }
  const auto gits = by_header(repo.git({"diff", "--full-index", "--no-renames"}));
  const Baseline baseline = pin_baseline(repo.path());
  const auto tracked = Repositories::open(baseline).value();
  Conversion conversion(baseline, tracked.get());
  std::map<std::string, std::string> patches;
  for (const auto& [name, bytes] : after) {
    const std::string ours = content->get(name, Which::diff).bytes;
    patches[name] = ours;
    if (is_unnormalized(conversion.of(name).value(), blobs[name])) {
      tally.unnormalized++;
      continue;
    }
    tally.compared++;
    const auto found = gits.find("diff --git a/" + name + " b/" + name);
    const std::string theirs = found == gits.end() ? "" : found->second;
    if (ours == theirs) continue;
    if (++tally.different <= 3)
      ADD_FAILURE() << "seed " << seed << "\n--- git\n" << theirs << "\n--- ours\n" << ours;
  }
  std::string all;
  for (const auto& [name, patch] : patches)
    if (patch.find("\nBinary files") == patch.npos) all += patch;
  repo.git({"reset", "-q", "--hard"});
  if (run_git(repo.path(), {"apply", "--whitespace=nowarn", "--allow-empty", "-"}, all).code != 0) {
    for (const auto& [name, patch] : patches) {
      if (patch.empty() || patch.find("\nBinary files") != patch.npos) continue;
      EXPECT_EQ(run_git(repo.path(), {"apply", "--whitespace=nowarn", "-"}, patch).code, 0)
          << "seed " << seed << "\n-- blob\n"
          << blobs[name] << "\n-- patch\n"
          << patch;
    }
  }
  for (const auto& [name, patch] : patches) {
    const LineEnds how = conversion.of(name).value();
    const std::string& wanted = after[name];
    if (patch.empty() || patch.find("\nBinary files") != patch.npos) continue;
    const std::string stored =
        is_unnormalized(how, blobs[name]) ? wanted : as_stored(how, wanted, blobs[name]);
    if (checked_out(how, stored) != wanted) continue;  // no checkout has such line ends
    if (is_mixed(blobs[name]) && how != LineEnds::as_is)
      continue;  // nor does git's patch give them
    EXPECT_EQ(repo.read(name), wanted) << "seed " << seed << " " << name << "\n" << patch;
    tally.exact++;
  }
}

}  // namespace

TEST(LineEnds, RandomConfigurations_EqualGit) {  // B6a, B6, case B14
  const uint32_t seed = property_seed("LineEnds");
  Tally tally;
  for (uint32_t round = 0; round < 20; round++) one_round(seed + round, tally);
  std::cout << tally.compared << " patches, " << tally.different << " differ from git's; "
            << tally.unnormalized << " of blobs that git would rewrite; " << tally.exact
            << " applied and equal to after()\n";
  EXPECT_EQ(tally.different, 0u);
  EXPECT_GT(tally.exact, 30u);
}

TEST(LineEnds, AutoCrlf_OneLineDiffers) {  // case B14
  const Repo repo;
  repo.git({"config", "core.autocrlf", "true"});
  repo.write("f", "a\r\nb\r\n");
  repo.commit_all();
  const auto content = open_content(repo.path());
  repo.write("f", "a\r\nB\r\n");
  EXPECT_EQ(content->get("f", Which::before).bytes, "a\r\nb\r\n");
  EXPECT_EQ(content->get("f", Which::after).bytes, "a\r\nB\r\n");
  const std::string patch = content->get("f", Which::diff).bytes;
  EXPECT_TRUE(patch.ends_with("@@ -1,2 +1,2 @@\n a\n-b\n+B\n")) << patch;
  EXPECT_EQ(patch, repo.git({"diff", "--full-index", "--no-renames"}));
  repo.git({"checkout", "-q", "."});
  EXPECT_EQ(repo.read("f"), "a\r\nb\r\n");
  repo.git({"apply", "--check", "-"}, patch);
  repo.git({"apply", "--check", "--cached", "-"}, patch);  // fits the commit as well
  repo.git({"apply", "-"}, patch);
  EXPECT_EQ(repo.read("f"), "a\r\nB\r\n");
}

TEST(LineEnds, OnlyLineEndsDiffer_IsTheSame) {  // B6a, T2
  const Repo repo;
  repo.git({"config", "core.autocrlf", "true"});
  repo.write("f", "a\r\nb\r\n");
  repo.commit_all();
  const auto content = open_content(repo.path());
  repo.write("f", "a\nb\n");
  EXPECT_EQ(content->get("f", Which::diff).state, PieceState::same);
  EXPECT_EQ(repo.git({"diff"}), "");
}

TEST(LineEnds, NewFile_IsShownAsItWouldBeStored) {  // B6a, T3
  const Repo repo;
  repo.git({"config", "core.autocrlf", "true"});
  repo.commit_all();
  const auto content = open_content(repo.path());
  repo.write("n", "a\r\nb\r\n");
  const std::string patch = content->get("n", Which::diff).bytes;
  repo.git({"add", "-N", "n"});
  EXPECT_EQ(patch, repo.git({"diff", "--full-index", "--no-renames"}));
  repo.git({"rm", "-q", "--cached", "n"});
  repo.remove("n");
  repo.git({"apply", "-"}, patch);
  EXPECT_EQ(repo.read("n"), "a\r\nb\r\n");
}

TEST(LineEnds, WhatTheAgentConfigures_ChangesNothing) {  // B6a, B7
  const Repo repo;
  repo.write(".gitattributes", "*.txt text eol=crlf\n");
  repo.write("f.txt", "a\nb\n");
  repo.write("g", "a\nb\n");
  repo.commit_all();
  const auto content = open_content(repo.path());
  repo.git({"config", "core.autocrlf", "true"});
  repo.write(".gitattributes", "* -text\n");
  repo.write(".git/info/attributes", "* -text\n");
  repo.write("f.txt", "a\r\nB\r\n");
  EXPECT_EQ(content->get("f.txt", Which::before).bytes, "a\r\nb\r\n");
  EXPECT_TRUE(content->get("f.txt", Which::diff).bytes.ends_with("\n a\n-b\n+B\n"));
  EXPECT_EQ(content->get("g", Which::before).bytes, "a\nb\n");
}

TEST(LineEnds, CommittedCrlfUnderText_IsComparedAsItIs) {  // B6a: where git shows every line
  const Repo repo;
  repo.write("f", "a\r\nb\r\n");
  repo.commit_all();
  repo.write(".gitattributes", "* text eol=lf\n");
  repo.git({"add", ".gitattributes"});
  repo.git({"commit", "-q", "-m", "attributes"});
  const auto content = open_content(repo.path());
  EXPECT_EQ(content->get("f", Which::diff).state, PieceState::same);
  repo.write("f", "a\r\nB\r\n");
  const std::string patch = content->get("f", Which::diff).bytes;
  EXPECT_TRUE(patch.ends_with("\n a\r\n-b\r\n+B\r\n")) << patch;
  repo.write("f", "a\r\nb\r\n");
  repo.git({"apply", "--whitespace=nowarn", "-"}, patch);
  EXPECT_EQ(repo.read("f"), "a\r\nB\r\n");
}

}  // namespace sandglass::git
