// Cases A and C of the public bug reports, through the whole product with real commands.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "e2e/background.h"
#include "e2e/product.h"

namespace sandglass::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

// Replays the events over the tree before: what must be there now (rule W5).
std::set<std::string> replayed(std::set<std::string> tree, const Ran& ran) {
  for (const Seen& seen : ran.files) {
    if (seen.type == "create") {
      EXPECT_TRUE(tree.insert(seen.path).second) << "created twice: " << seen.path;
    } else if (seen.type == "delete") {
      EXPECT_EQ(tree.erase(seen.path), 1u) << "deleted but never there: " << seen.path;
    } else {
      EXPECT_TRUE(tree.count(seen.path)) << "changed but never there: " << seen.path;
    }
  }
  return tree;
}

std::set<std::string> files_of(const Product& product) {
  std::set<std::string> out;
  const Output found =
      shell("find . -name .git -prune -o -name node_modules -prune -o ! -type d -print0",
            product.workspace());
  for (size_t at = 0; at < found.out.size();) {
    const size_t end = found.out.find('\0', at);
    out.insert(found.out.substr(at + 2, end - at - 2));
    at = end + 1;
  }
  return out;
}

TEST(Watching, A1_DeepDirectoriesInOneBreath_EachFileIsCreatedOnce) {  // A1, W5
  Product product;
  const Ran ran = product.run("mkdir -p a/b/c && echo 1 > a/b/c/f && echo 2 > a/b/g");
  EXPECT_EQ(ran.count("create", "a/b/c/f"), 1u);
  EXPECT_EQ(ran.count("create", "a/b/g"), 1u);
  EXPECT_EQ(replayed({}, ran), files_of(product));
}

TEST(Watching, A5_AtomicSave_IsOneChange) {  // A5, W6
  Product product;
  product.repository("echo old > a.txt");
  product.commit_all();
  const Ran ran = product.run("echo new > a.txt.tmp.123 && mv a.txt.tmp.123 a.txt");
  EXPECT_THAT(ran.types_of("a.txt"), ElementsAre("change"));
  EXPECT_EQ(ran.count("create", "a.txt.tmp.123"), ran.count("delete", "a.txt.tmp.123"));
  EXPECT_NE(product.diff().find("-old\n+new\n"), std::string::npos);
}

TEST(Watching, A7_BornAndGone_IsAPairOrNothing) {  // A7, W4
  Product product;
  const Ran ran = product.run("i=0; while [ $i -lt 50 ]; do touch x; rm x; i=$((i+1)); done");
  EXPECT_EQ(ran.count("create", "x"), ran.count("delete", "x"));
  EXPECT_EQ(ran.output.err.find("error"), std::string::npos) << ran.output.err;
}

TEST(Watching, A8_Reading_IsNoEvent) {  // A8, C6, W6
  Product product;
  product.repository("mkdir d; echo foo > d/a; echo foo > b");
  product.commit_all();
  const Ran ran = product.run(
      "grep -r foo . >/dev/null; ls -laR >/dev/null; git status >/dev/null; cat b >/dev/null");
  EXPECT_THAT(ran.files, IsEmpty());
}

TEST(Watching, A9_DirectoryDeletedAndMadeAgain_IsWatchedAgain) {  // A9
  Product product;
  const Ran ran =
      product.run("mkdir d; echo 1 > d/a; rm -r d; mkdir d; echo 2 > d/b; sleep 0.2; echo 3 > d/c");
  EXPECT_EQ(ran.count("create", "d/b"), 1u);
  EXPECT_EQ(ran.count("create", "d/c"), 1u);
  EXPECT_EQ(replayed({}, ran), files_of(product));
}

TEST(Watching, A12_LinksOut_AreEntriesOnly) {  // A12, B9
  Product product;
  const Ran ran =
      product.run("ln -s .. loop; ln -s /etc out; echo x > real; ln real hard; echo y >> hard");
  EXPECT_EQ(ran.count("create", "loop"), 1u);
  EXPECT_EQ(ran.count("create", "out"), 1u);
  EXPECT_EQ(ran.count("create", "hard"), 1u);
  for (const Seen& seen : ran.files) EXPECT_EQ(seen.path.find('/'), std::string::npos) << seen.path;
}

TEST(Watching, C5_WritesOfAnyTool_AreSeen) {  // C5
  Product product;
  product.repository("echo a > f; mkdir src; echo 1 > src/x");
  product.commit_all();
  ASSERT_EQ(product.git("checkout -q -b other").code, 0);
  product.sh("echo 2 > src/x; echo o > only-other");
  product.commit_all();
  ASSERT_EQ(product.git("checkout -q main").code, 0);
  const auto before = files_of(product);
  const Ran ran = product.run(
      "sed -i s/a/b/ f; python3 -c \"open('g','w').write('x')\"; git -c safe.directory='*' "
      "checkout -q other -- src only-other;"
      "mkdir t; echo 1 > t/1; tar -cf t.tar t; rm -r t; tar -xf t.tar; mv src moved");
  EXPECT_EQ(ran.output.code, 0) << ran.output.err;
  EXPECT_EQ(ran.count("change", "f"), 1u);
  EXPECT_EQ(ran.count("create", "g"), 1u);
  EXPECT_EQ(ran.count("create", "only-other"), 1u);
  EXPECT_EQ(ran.count("create", "moved/x"), 1u);
  EXPECT_EQ(replayed(before, ran), files_of(product));
  product.expect_diff_applies();
}

TEST(Watching, StrangeNames_ArriveExactly) {  // W9, J25, J26
  Product product;
  const Ran ran = product.run(
      R"sh(printf x > "$(printf 'new\nline')"; printf x > "$(printf 'bad\377')"; printf x > 'z,7 "q"'; printf x > -dash)sh");
  std::set<std::string> seen;
  for (const Seen& one : ran.files)
    if (one.type == "create") seen.insert(one.path);
  EXPECT_EQ(seen, (std::set<std::string>{"new\nline", "bad\xff", "z,7 \"q\"", "-dash"}));
}

TEST(Watching, TenThousandFiles_FlatOut_NoneIsLost) {  // W5, J19
  Product product;
  const Ran ran =
      product.run("python3 -c \"\nfor i in range(10000): open('f%d' % i, 'w').write('x')\"");
  std::set<std::string> created;
  for (const Seen& seen : ran.files)
    if (seen.type == "create") {
      EXPECT_TRUE(created.insert(seen.path).second);
    }
  EXPECT_EQ(created.size(), 10'000u);
}

TEST(Watching, IgnoredNames_AreNotWatched_NamesLikeThemAre) {  // D4
  Product product;
  const Ran ran = product.run(
      "mkdir node_modules sub sub/node_modules; echo 1 > node_modules/a; echo 1 > "
      "sub/node_modules/b;"
      "echo 1 > sub/my_node_modules; echo 1 > .gitignore");
  EXPECT_THAT(ran.types_of("node_modules/a"), IsEmpty());
  EXPECT_THAT(ran.types_of("sub/node_modules/b"), IsEmpty());
  EXPECT_EQ(ran.count("create", "sub/my_node_modules"), 1u);
  EXPECT_EQ(ran.count("create", ".gitignore"), 1u);
}

TEST(Watching, WriteRightBeforeTheEnd_IsInTheStream) {  // W8, S2
  for (int round = 0; round < 10; round++) {
    Product product;
    const Ran ran = product.run("echo last > last");
    EXPECT_EQ(ran.count("create", "last"), 1u);
    EXPECT_EQ(ran.lines.back().at("type"), "RUN_FINISHED");
  }
}

TEST(Watching, ByPolling_RunTellsAllOfIt) {  // W1, W7, W8
  Product product;
  product.sh("mkdir d; echo 1 > d/old; echo 2 > d/gone; mkdir node_modules");
  const Ran ran = product.run(
      "echo 3 > new; echo 1 >> d/old; rm d/gone; echo x > node_modules/x; echo last > "
      "\"$(printf 'a\nb')\"",
      {"--watcher", "poll"});
  EXPECT_EQ(ran.output.code, 0) << ran.output.err;
  EXPECT_EQ(ran.count("create", "new"), 1u);
  EXPECT_EQ(ran.count("change", "d/old"), 1u);
  EXPECT_EQ(ran.count("delete", "d/gone"), 1u);
  EXPECT_EQ(ran.count("create", "a\nb"), 1u);
  EXPECT_EQ(ran.files.size(), 4u);
  const Output status = product.sandglass({"status"}).run();
  EXPECT_NE(status.out.find("watching   polling: find -printf"), std::string::npos) << status.out;
  const auto json = nlohmann::json::parse(product.sandglass({"status", "--json"}).run().out);
  EXPECT_EQ(json["sandboxes"][0]["watching"]["mode"], "polling");
  EXPECT_EQ(json["sandboxes"][0]["watching"]["why"], "asked for by name");
}

TEST(Watching, ByPolling_FromTheConfiguration_WithItsInterval) {  // D3
  Product product;
  product.dir().write("c.yaml",
                      "version: 1\nsandboxes:\n  p:\n    fileEvents: {watcher: poll, interval: "
                      "20ms}\n");
  const Ran ran = product.run("echo 1 > f", {"--config", product.dir() / "c.yaml"});
  EXPECT_EQ(ran.output.code, 0) << ran.output.err;
  EXPECT_EQ(ran.count("create", "f"), 1u);
  const auto ready = product.sandglass({"events", "--json"}).run().out;
  EXPECT_NE(ready.find(R"("intervalMs":20)"), std::string::npos) << ready;
}

TEST(Watching, ByPolling_WithoutARun) {  // O1, W8
  Product product;
  const std::string out = product.dir() / "out";
  Background watcher({"sh", "-c",
                      std::string("exec ") + SANDGLASS +
                          " watch . --watcher poll --interval 20ms "
                          "--json > " +
                          out},
                     product.workspace(), product.dir() / "err");
  const auto says = [&](const char* text) {
    return shell("cat " + out, "/").out.find(text) != std::string::npos;
  };
  ASSERT_TRUE(eventually([&] { return says("sandbox.ready"); }));
  product.sh("echo 1 > early");
  EXPECT_TRUE(eventually([&] { return says("/workspace/early"); }));
  product.sh("echo 1 > last");
  EXPECT_EQ(watcher.end(SIGTERM), 0);
  EXPECT_TRUE(says("/workspace/last"));
}

}  // namespace
}  // namespace sandglass::testing
