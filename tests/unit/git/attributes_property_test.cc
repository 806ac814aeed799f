// Rule B6a: attributes of paths against `git check-attr` on generated files, macros included.
#include <gtest/gtest.h>

#include <iostream>

#include "git/attributes.h"
#include "repo.h"

namespace sandglass::git {

namespace {

using Random = std::mt19937;

template <class T>
const T& one_of(Random& random, const std::vector<T>& all) {
  return all[random() % all.size()];
}

std::string random_pattern(Random& random) {
  static const std::vector<std::string> kWhole = {
      "*",   "*.c",     "a",         "/a",         "d/*", "d/**",   "**/b.c",
      "a*",  "\"a b\"", "\"a\\tb\"", "*.[ch]",     "d/",  "/d/e/*", "[!a]*",
      "\\a", "!a",      "#c",        "d/e/**/b.c", "\"a"};
  if (random() % 2) return one_of(random, kWhole);
  static const std::vector<std::string> kParts = {"a", "b", "d", "*", "?", "/", "**", ".c", "[ab]"};
  std::string out;
  for (size_t n = 1 + random() % 4; n > 0; n--) out += one_of(random, kParts);
  return out;
}

std::string random_attributes(Random& random) {
  static const std::vector<std::string> kOnes = {
      "text",  "-text", "!text",    "text=auto",  "text=input", "eol=lf",    "eol=crlf", "!eol",
      "-eol",  "crlf",  "-crlf",    "crlf=input", "binary",     "-binary",   "!binary",  "mine",
      "other", "-mine", "filter=x", "diff",       "text=",      "-text=odd", "mine=3",   "loop"};
  std::string out;
  for (size_t n = 1 + random() % 3; n > 0; n--) out += " " + one_of(random, kOnes);
  if (random() % 40 == 0) out += " b@d";
  return out;
}

std::string random_file(Random& random, bool top) {
  std::string out = random() % 8 == 0 ? "\xef\xbb\xbf" : "";
  for (size_t n = random() % 12; n > 0; n--) {
    static const std::vector<std::string> kMacros = {"[attr]mine", "[attr]other", "[attr]loop",
                                                     "[attr]binary"};
    out += random() % 10 == 0 ? "  " : "";
    out += (top || random() % 4 == 0) && random() % 4 == 0 ? one_of(random, kMacros)
                                                           : random_pattern(random);
    out += random_attributes(random) + (random() % 6 == 0 ? "\r\n" : "\n");
  }
  return out;
}

std::string shown_as(const AttributeValue& value) {
  using State = AttributeValue::State;
  switch (value.state) {
    case State::set:
      return "set";
    case State::unset:
      return "unset";
    case State::text:
      return value.text;
    case State::unspecified:
      break;
  }
  return "unspecified";
}

std::map<std::string, std::string> gits_answers(const Repo& repo,
                                                const std::vector<std::string>& paths) {
  std::string input;
  for (const std::string& path : paths) input += path + '\0';
  const std::string all = repo.git({"check-attr", "-z", "--stdin", "text", "crlf", "eol"}, input);
  std::map<std::string, std::string> out;  // "path", then "text/crlf/eol"
  std::string fields[3];
  for (size_t at = 0, n = 0; at < all.size(); n++) {
    const size_t end = all.find('\0', at);
    fields[n % 3] = all.substr(at, end - at);
    if (n % 3 == 2) out[fields[0]] += fields[2] + "/";
    at = end + 1;
  }
  return out;
}

}  // namespace

TEST(AttributesProperty, LineAttributes_RandomFiles_EqualCheckAttr) {  // B6a
  const uint32_t seed = property_seed("AttributesProperty");
  Random random(seed);
  const std::vector<std::string> paths = {"a",         "b",   "a.c",   "b.c",   "a b",
                                          "a\tb",      "d/a", "d/b.c", "d/e/a", "d/e/b.c",
                                          "d/e/f/b.c", "#c",  "!a",    "d/a b", "ab"};
  size_t asked = 0;
  for (int round = 0; round < 60; round++) {
    const Repo repo;
    std::map<std::string, std::string> files;
    for (const char* directory : {"", "d", "d/e"})
      if (random() % 4) files[directory] = random_file(random, *directory == '\0');
    const std::string info = random() % 3 == 0 ? random_file(random, true) : "";
    for (const auto& [directory, text] : files)
      repo.write(directory + (directory.empty() ? "" : "/") + ".gitattributes", text);
    repo.write(".git/info/attributes", info);

    Macros macros = built_in_macros();
    AttributeFile::read_macros(files.count("") ? files[""] : "", macros);
    AttributeFile::read_macros(info, macros);
    AttributeSet set;
    set.macros = &macros;
    set.info = AttributeFile::parse(info, macros);
    set.of_directory = [&](std::string_view directory) -> std::shared_ptr<const AttributeFile> {
      const auto found = files.find(std::string(directory));
      return found == files.end() ? nullptr : AttributeFile::parse(found->second, macros);
    };
    const auto gits = gits_answers(repo, paths);
    for (const std::string& path : paths) {
      const LineAttributes got = line_attributes(set, path);
      const std::string ours =
          shown_as(got.text) + "/" + shown_as(got.crlf) + "/" + shown_as(got.eol) + "/";
      asked++;
      ASSERT_EQ(ours, gits.at(path)) << "seed " << seed << " path " << path << "\n-- top\n"
                                     << files[""] << "-- d\n"
                                     << files["d"] << "-- d/e\n"
                                     << files["d/e"] << "-- info\n"
                                     << info;
    }
  }
  std::cout << asked << " paths, all as git says\n";
}

TEST(Attributes, HundredThousandLines_AreReadInGoodTime) {  // B7
  std::string bytes;
  for (int i = 0; i < 100'000; i++) bytes += "*a*b" + std::to_string(i) + " text\n";
  bytes += "f text eol=crlf\n";
  const Macros macros = built_in_macros();
  const auto file = AttributeFile::parse(bytes, macros);
  AttributeSet set;
  set.macros = &macros;
  set.of_directory = [&](std::string_view) { return file; };
  EXPECT_EQ(line_attributes(set, "f").eol.text, "crlf");
  EXPECT_EQ(file->lines(), 100'001u);
}

TEST(Attributes, MacrosInACircleOrVeryDeep_End) {
  std::string bytes = "[attr]a b\n[attr]b a text\n* a\n";
  for (int i = 0; i < 50'000; i++)
    bytes += "[attr]m" + std::to_string(i) + " m" + std::to_string(i + 1) + "\n";
  bytes += "[attr]m50000 eol=lf\n* m0\n";
  Macros macros = built_in_macros();
  AttributeFile::read_macros(bytes, macros);
  const auto file = AttributeFile::parse(bytes, macros);
  AttributeSet set;
  set.macros = &macros;
  set.of_directory = [&](std::string_view) { return file; };
  const LineAttributes got = line_attributes(set, "f");
  EXPECT_EQ(got.text.state, AttributeValue::State::set);
  EXPECT_EQ(got.eol.text, "lf");
}

}  // namespace sandglass::git
