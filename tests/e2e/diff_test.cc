// Cases B of the public bug reports, through the whole product with real git.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "e2e/product.h"

namespace sandglass::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Diff, B1_NonAsciiNames_AreRawInEventsAndQuotedInPatches) {  // B1, B6
  Product product;
  product.repository("printf 'a\\n' > 'ä ö.txt'");
  product.commit_all();
  const Ran ran = product.run("printf 'b\\n' > 'ä ö.txt'");
  EXPECT_EQ(ran.count("change", "ä ö.txt"), 1u);
  product.expect_diff_applies();
  EXPECT_EQ(product.diff(), product.git("diff --full-index --no-renames").out);
}

TEST(Diff, B3_GitConfiguration_ChangesNothing) {  // B3, B7
  const char* script = "printf 'one\\ntwo\\n' > f; echo n > new";
  std::string plain;
  for (bool hostile : {false, true}) {
    Product product;
    product.repository("printf 'one\\n2\\n' > f; echo '*.x -diff' > .gitattributes");
    product.commit_all();
    if (hostile)
      product.sh(
          "for c in 'diff.noprefix true' 'color.ui always' 'diff.mnemonicPrefix true' "
          "'diff.external /bin/true' 'diff.context 0' "
          "'core.fsmonitor touch\\ ran' 'core.hooksPath .' 'diff.algorithm patience'; do git "
          "config $c || git config ${c%% *} \"${c#* }\"; done");
    const Ran ran = product.run(script);
    EXPECT_EQ(ran.output.code, 0);
    const std::string patch =
        product.sandglass({"diff"}).env("GIT_EXTERNAL_DIFF", "/bin/true").run().out;
    EXPECT_THAT(patch, HasSubstr("+two"));
    if (!hostile)
      plain = patch;
    else
      EXPECT_EQ(patch, plain);
  }
}

TEST(Diff, B5_Observing_TakesNoLockAndLeavesTheIndex) {  // B5, B7
  Product product;
  product.repository("echo 0 > t");
  product.commit_all();
  const std::string before = shell("stat -c '%y %i' .git/index", product.workspace()).out;
  EXPECT_EQ(product.run("touch t; echo 1 > u").output.code, 0);
  EXPECT_NE(product.diff(), "");
  EXPECT_EQ(shell("stat -c '%y %i' .git/index", product.workspace()).out, before);
  const Ran ran = product.run(
      "for i in $(seq 200); do echo $i > t; git add t && git -c user.name=t -c user.email=t@x -c "
      "safe.directory='*' commit -qm $i || exit 9; done",
      {"--diff"});
  EXPECT_EQ(ran.output.code, 0) << ran.output.err;
  EXPECT_EQ(product.run("touch .git/index.lock; echo 2 > t").output.code,
            0);  // a killed agent's lock
  EXPECT_THAT(product.diff(), HasSubstr("+2\n"));
}

TEST(Diff, B6_TheAgentCommits_TheBaselineStays) {  // B6, B1
  Product product;
  product.repository("echo 1 > f");
  product.commit_all();
  const std::string git = "git -c user.name=t -c user.email=t@x -c safe.directory='*' ";
  const Ran ran =
      product.run("echo 2 > f; git add f; " + git + "commit -qm agent; git checkout -q -b x; " +
                  git + "commit -q --amend -m y");
  EXPECT_EQ(ran.output.code, 0) << ran.output.err;
  EXPECT_THAT(product.diff(), HasSubstr("-1\n+2\n"));
  product.sh("git reset -q --hard HEAD~1");
  EXPECT_EQ(product.diff(), "");
}

TEST(Diff, B8_NoCommitYet_IsAnEmptyBaseline) {  // B8
  for (const char* format : {"", " --object-format=sha256"}) {
    Product product;
    ASSERT_EQ(product.git(std::string("init -q") + format).code, 0);
    product.sh("echo a > f; git add f");
    const Ran ran = product.run("echo b >> f");
    EXPECT_EQ(ran.count("change", "f"), 1u);
    EXPECT_THAT(product.diff(), HasSubstr("@@ -0,0 +1,2 @@\n+a\n+b\n")) << format;
    EXPECT_THAT(ran.output.err, Not(HasSubstr("error:")));
  }
}

TEST(Diff, B9_SomebodyElsesRepository_IsReadWithoutConfiguration) {  // B9 of the cases
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to give the repository to another user";
  Product product;
  product.repository("echo 1 > f");
  product.commit_all();
  product.sh("chown -R 12345:12345 .");
  EXPECT_EQ(product.run("echo 2 > f").output.code, 0);
  EXPECT_THAT(product.diff(), HasSubstr("-1\n+2\n"));
  EXPECT_FALSE(std::filesystem::exists(product.dir() / "home/.gitconfig"));
}

TEST(Diff, B12_UntrackedFileEditedAgain_KeepsItsAddPatch) {  // B12, T3
  Product product;
  product.repository();
  product.commit_all();
  const Ran ran = product.run(
      "echo 1 > n; sleep 0.3; echo 2 >> n; sleep 0.3; : > n; sleep 0.3; rm n", {"--diff"});
  EXPECT_THAT(ran.types_of("n"), ElementsAre("create", "change", "change", "delete"));
  std::vector<std::string> diffs;
  for (const auto& line : ran.lines)
    if (line.value("name", "") == "sandbox.file.diff") diffs.push_back(line.at("value").at("diff"));
  ASSERT_EQ(diffs.size(), 4u);
  EXPECT_THAT(diffs[0], HasSubstr("@@ -0,0 +1 @@\n+1\n"));
  EXPECT_THAT(diffs[1], HasSubstr("@@ -0,0 +1,2 @@\n+1\n+2\n"));
  EXPECT_THAT(diffs[2], HasSubstr("new file mode 100644\n"));
  EXPECT_EQ(diffs[3], "");
}

TEST(Diff, B13_NoNewlineAtTheEnd_IsMarkedOnBothSides) {  // B13
  Product product;
  product.repository("printf 'a\\nb' > f");
  product.commit_all();
  product.run("printf 'a\\nc' > f");
  EXPECT_THAT(product.diff(),
              HasSubstr("-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n"));
  product.expect_diff_applies();
  product.run("printf 'a\\n\\n' > f; printf 'x' > new");
  product.expect_diff_applies();
  EXPECT_THAT(product.diff(), HasSubstr("+x\n\\ No newline at end of file\n"));
}

TEST(Diff, B18_GitEnvironment_ChangesNothing) {  // B18
  Product product, other;
  product.repository("echo 1 > f");
  product.commit_all();
  other.repository("echo other > f");
  other.commit_all();
  product.run("echo 2 > f");
  const std::string plain = product.diff();
  const Output with = product.sandglass({"diff"})
                          .env("GIT_DIR", other.workspace() + "/.git")
                          .env("GIT_INDEX_FILE", product.dir() / "i")
                          .env("GIT_WORK_TREE", "/")
                          .env("GIT_OBJECT_DIRECTORY", "/nonexistent")
                          .run();
  EXPECT_EQ(with.out, plain);
  EXPECT_THAT(plain, HasSubstr("-1\n+2\n"));
}

TEST(Diff, Options_StatNamesAndPaths_SelectWhatIsShown) {
  Product product;
  product.repository("mkdir src; echo 1 > src/a; echo 1 > b");
  product.commit_all();
  product.run("echo 2 > src/a; echo 2 > b");
  EXPECT_EQ(product.sandglass({"diff", "--name-only"}).run().out, "b\nsrc/a\n");
  EXPECT_EQ(product.sandglass({"diff", "--name-only", "--", "src"}).run().out, "src/a\n");
  EXPECT_EQ(product.sandglass({"diff", "--name-only", "--", "/workspace/b"}).run().out, "b\n");
  EXPECT_THAT(product.sandglass({"diff", "--stat"}).run().out, HasSubstr("2 files, +2 -2"));
}

TEST(Diff, UntouchedDirt_IsNotBlamedOnTheAgent) {  // B3 of the rules
  Product product;
  product.repository("echo 1 > mine; echo 1 > its");
  product.commit_all();
  product.sh("echo dirty > mine");
  product.run("echo 2 > its");
  EXPECT_EQ(product.sandglass({"diff", "--name-only"}).run().out, "its\n");
}

}  // namespace
}  // namespace sandglass::testing
