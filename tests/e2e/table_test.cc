// The accessors of every row T1 to T10, as a hook plugin gets them from the product.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/text.h"
#include "e2e/product.h"

namespace sandglass::testing {
namespace {

struct Piece {
  int state = -1;
  std::string bytes;
};
struct Row {
  std::string type;
  Piece before, after, diff;
};

std::string unhex(const std::string& text) {
  std::string out;
  for (size_t i = 0; text != "-" && i + 1 < text.size(); i += 2)
    out += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
  return out;
}

enum State { kHere = 0, kAbsent = 1, kSame = 2, kNoBaseline = 3, kIgnored = 4 };

class Table : public ::testing::Test {
 protected:
  // The last event of each path.
  std::map<std::string, Row> rows(const std::string& script) {
    const std::string file = product.dir() / "accessors.txt";
    product.dir().write("c.yaml", "version: 1\nplugins: [{file: \"" ACCESSORS
                                  "\"}]\nsandboxes:\n  t:\n    hooks:\n"
                                  "      onFile: [{use: accessors, with: {file: \"" +
                                      file + "\"}}]\n");
    const Ran ran = product.run(script, {"--config", product.dir() / "c.yaml"});
    EXPECT_EQ(ran.output.code, 0) << ran.output.err;
    std::map<std::string, Row> out;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
      std::istringstream fields(line);
      int kind;
      std::string path;
      Row row;
      std::string bytes[3];
      fields >> kind >> path >> row.before.state >> bytes[0] >> row.after.state >> bytes[1] >>
          row.diff.state >> bytes[2];
      row.type = kind == 0 ? "create" : kind == 1 ? "change" : "delete";
      row.before.bytes = unhex(bytes[0]);
      row.after.bytes = unhex(bytes[1]);
      row.diff.bytes = unhex(bytes[2]);
      out[unhex(path)] = row;
    }
    return out;
  }
  void print(const char* number, const Row& row) {
    std::printf("%-4s %-6s before %d '%s'  after %d '%s'\n%s\n", number, row.type.c_str(),
                row.before.state, shown(row.before.bytes).c_str(), row.after.state,
                shown(row.after.bytes).c_str(), row.diff.bytes.c_str());
  }
  Product product;
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(Table, GitWorkspace_EachRow_IsAsSpecified) {
  product.repository(
      "printf 'a\\nb\\n' > tracked; printf 'same\\n' > same; printf 'old\\n' > deleted; printf "
      "'.env\\nforced\\n' > .gitignore;"
      "printf 'f1\\n' > forced; git add -f forced");
  product.commit_all();
  auto all = rows(
      "printf 'a\\nB\\n' > tracked; printf x > same; sleep 0.2; printf 'same\\n' > same; echo 1 > "
      "new; echo 2 "
      ">> new; rm deleted;"
      "echo 1 > shortlived; sleep 0.2; rm shortlived; echo KEY=1 > .env; printf 'f2\\n' > forced; "
      ": > empty");
  ASSERT_FALSE(all.empty());

  const Row& t1 = all["tracked"];
  print("T1", t1);
  EXPECT_EQ(t1.type, "change");
  EXPECT_EQ(t1.before.bytes, "a\nb\n");
  EXPECT_EQ(t1.after.bytes, "a\nB\n");
  EXPECT_TRUE(has(t1.diff.bytes, "--- a/tracked\n+++ b/tracked\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n"))
      << t1.diff.bytes;

  ASSERT_TRUE(all.count("same"));
  const Row& t2 = all["same"];
  print("T2", t2);
  EXPECT_EQ(t2.before.bytes, "same\n");
  EXPECT_EQ(t2.after.bytes, "same\n");
  EXPECT_EQ(t2.diff.bytes, "");
  EXPECT_EQ(t2.diff.state, kSame);

  const Row& t3 = all["new"];
  print("T3", t3);
  EXPECT_EQ(t3.before.bytes, "");
  EXPECT_EQ(t3.before.state, kAbsent);
  EXPECT_EQ(t3.after.bytes, "1\n2\n");
  EXPECT_TRUE(has(t3.diff.bytes, "new file mode 100644\n")) << t3.diff.bytes;
  EXPECT_TRUE(has(t3.diff.bytes, "--- /dev/null\n+++ b/new\n@@ -0,0 +1,2 @@\n+1\n+2\n"))
      << t3.diff.bytes;

  const Row& t4 = all["deleted"];
  print("T4", t4);
  EXPECT_EQ(t4.type, "delete");
  EXPECT_EQ(t4.before.bytes, "old\n");
  EXPECT_EQ(t4.after.bytes, "");
  EXPECT_TRUE(has(t4.diff.bytes, "deleted file mode 100644\n")) << t4.diff.bytes;
  EXPECT_TRUE(has(t4.diff.bytes, "+++ /dev/null\n@@ -1 +0,0 @@\n-old\n")) << t4.diff.bytes;

  ASSERT_TRUE(all.count("shortlived"));
  const Row& t5 = all["shortlived"];
  print("T5", t5);
  EXPECT_EQ(t5.type, "delete");
  EXPECT_EQ(t5.before.bytes + t5.after.bytes + t5.diff.bytes, "");

  const Row& t8 = all[".env"];
  print("T8", t8);
  EXPECT_EQ(t8.type, "create");
  EXPECT_EQ(t8.before.bytes, "");
  EXPECT_EQ(t8.after.bytes, "KEY=1\n");
  EXPECT_EQ(t8.diff.bytes, "");
  EXPECT_EQ(t8.diff.state, kIgnored);

  const Row& t9 = all["forced"];
  print("T9", t9);
  EXPECT_EQ(t9.before.bytes, "f1\n");
  EXPECT_EQ(t9.after.bytes, "f2\n");
  EXPECT_TRUE(has(t9.diff.bytes, "-f1\n+f2\n")) << t9.diff.bytes;

  const Row& t10 = all["empty"];
  print("T10", t10);
  EXPECT_EQ(t10.before.bytes + t10.after.bytes, "");
  EXPECT_TRUE(
      has(t10.diff.bytes,
          "new file mode 100644\nindex "
          "0000000000000000000000000000000000000000..e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"))
      << t10.diff.bytes;
  product.expect_diff_applies();
}

TEST_F(Table, RedactedAndExported_ContentIsWithheld) {  // T8a, T8b, B8, B17
  product.repository("mkdir keys; echo 1 > keys/a.txt; echo A=1 > .env; echo A=1 > .env.example");
  product.commit_all();
  product.dir().write("c.yaml",
                      "version: 1\nsandboxes:\n  t: {redact: [keys/], fileEvents: {diff: true}}\n");
  const Ran ran =
      product.run("echo 2 > keys/a.txt; echo A=2 > .env; echo A=2 > .env.example; echo x > id_rsa",
                  {"--config", product.dir() / "c.yaml"});
  std::map<std::string, std::string> exported;
  for (const auto& line : ran.lines)
    if (line.value("name", "") == "sandbox.file.diff")
      exported[line.at("value").at("path")] = line.at("value").at("diff");
  ASSERT_EQ(exported.size(), 4u);
  EXPECT_EQ(exported["/workspace/keys/a.txt"], "");
  EXPECT_EQ(exported["/workspace/.env"], "");
  EXPECT_EQ(exported["/workspace/id_rsa"], "");
  EXPECT_TRUE(has(exported["/workspace/.env.example"], "+A=2\n"));
  const std::string here = product.diff();  // does not leave the host
  EXPECT_TRUE(has(here, "b/.env\n")) << here;
  EXPECT_FALSE(has(here, "keys")) << here;
}

TEST_F(Table, NoGitWorkspace_EachRow_IsAsSpecified) {
  product.sh("echo old > changed; echo old > deleted");
  auto all = rows("echo new > changed; echo new > created; rm deleted; : > empty");
  const Row& created = all["created"];
  print("T6", created);
  EXPECT_EQ(created.before.bytes, "");
  EXPECT_EQ(created.before.state, kNoBaseline);
  EXPECT_EQ(created.after.bytes, "new\n");
  EXPECT_TRUE(has(created.diff.bytes, "--- /dev/null\n+++ b/created\n@@ -0,0 +1 @@\n+new\n"))
      << created.diff.bytes;
  const Row& changed = all["changed"];
  print("T6", changed);
  EXPECT_EQ(changed.type, "change");
  EXPECT_EQ(changed.before.bytes, "");
  EXPECT_EQ(changed.after.bytes, "new\n");
  EXPECT_TRUE(has(changed.diff.bytes, "+new\n")) << changed.diff.bytes;
  const Row& deleted = all["deleted"];
  print("T7", deleted);
  EXPECT_EQ(deleted.type, "delete");
  EXPECT_EQ(deleted.before.bytes + deleted.after.bytes + deleted.diff.bytes, "");
  const Row& empty = all["empty"];
  print("T10", empty);
  EXPECT_TRUE(has(empty.diff.bytes, "new file mode 100644\n")) << empty.diff.bytes;
}

}  // namespace
}  // namespace sandglass::testing
