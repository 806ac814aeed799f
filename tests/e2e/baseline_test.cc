// The baseline survives the agent, through the whole product with real git (rules B1 to B3, B9; row
// T16; cases B6, B10, B11, B19).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "e2e/product.h"

namespace sandglass::testing {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kGit[] = "git -c user.name=t -c user.email=t@x -c safe.directory='*' ";

nlohmann::json status_of(const Product& product) {
  return nlohmann::json::parse(product.sandglass({"status", "--json"}).run().out)
      .at("sandboxes")
      .back();
}

// What the agent does after it wrote `2` where `1` was.
TEST(Baseline, B2_WhateverTheAgentDoesToGit_DiffAnswersAfterwards) {
  const std::string git = kGit, expire = git + "reflog expire --expire=now --all; ";
  const std::pair<const char*, std::string> harms[] = {
      {"removed", "rm -rf .git"},
      {"amended", git + "commit -qam 2 --amend; " + expire + git + "gc -q --prune=now"},
      {"reset", git + "reset -q --hard HEAD~1; echo 2 > f; " + expire + git + "gc -q --prune=now"},
      {"replaced", git + "replace HEAD HEAD~1"},
      {"rewritten", git + "stash -q; FILTER_BRANCH_SQUELCH_WARNING=1 " + git +
                        "filter-branch -f --tree-filter 'echo 2 > f' -- --all >/dev/null; " +
                        "rm -rf .git/refs/original; " + expire + git + "gc -q --prune=now"},
  };
  for (const auto& [name, harm] : harms) {
    Product product;
    product.repository("echo 0 > f");
    product.commit_all();
    product.sh("echo 1 > f");
    product.commit_all();
    const std::string commit = product.git("rev-parse HEAD").out.substr(0, 40);
    const Ran ran = product.run("echo 2 > f; " + harm, {"--diff"});
    EXPECT_EQ(ran.output.code, 0) << name << ran.output.err;
    EXPECT_THAT(product.diff(), HasSubstr("\n-1\n+2\n")) << name;
    const nlohmann::json status = status_of(product);
    EXPECT_EQ(status.at("baseline"), commit);
    EXPECT_THAT(status.at("pin").at("state"), AnyOf("linked", "copied")) << name;
  }
}

// Case B6 of the public reports.
TEST(Baseline, B6_TheAgentCommits_ComparedWithTheStart) {
  Product product;
  product.repository("echo 1 > f");
  product.commit_all();
  const std::string git = kGit;
  (void)product.run("echo 2 > f; " + git + "commit -qam 2");
  EXPECT_THAT(product.diff(), HasSubstr("\n-1\n+2\n"));
  (void)product.run("echo 3 > f; " + git + "checkout -q f");
  EXPECT_EQ(product.diff(), "");
}

TEST(Baseline, B2_PackCutInPlace_FaultOrRightNeverACrash) {
  Product product;
  product.repository("seq 5000 > f");
  product.commit_all();
  EXPECT_EQ(product.git("repack -adq").code, 0);
  const Ran ran = product.run(
      "echo 2 >> f; chmod u+w .git/objects/pack/*; for p in .git/objects/pack/*; do "
      "truncate -s 60 $p; done; echo 3 >> f");
  EXPECT_EQ(ran.output.code, 0);
  const Output diff = product.sandglass({"diff"}).run();
  EXPECT_EQ(diff.code, 0);
  if (!diff.out.empty())
    EXPECT_THAT(diff.out, HasSubstr("\n 5000\n+2\n+3\n"));
  else
    EXPECT_THAT(diff.err, HasSubstr("cannot tell what happened to f"));
}

TEST(Baseline, B3_DirtyAtTheStart_IsNotInTheSummary) {
  Product product;
  product.repository("echo 1 > dirty; echo 1 > clean");
  product.commit_all();
  product.sh("echo mine > dirty; echo mine > untracked");
  const std::vector<std::string> command = {
      "run", "--", "sh", "-c",
      "cp -p dirty d; cat d > dirty; cat untracked > d; cat d > untracked; "
      "rm d; echo 2 > clean"};
  EXPECT_THAT(product.sandglass(command).run().err, HasSubstr("exit 0: 1 file, +1 -1"));
  const std::vector<std::string> more = {"run", "--", "sh", "-c", "echo agent >> dirty"};
  EXPECT_THAT(product.sandglass(more).run().err, HasSubstr("exit 0: 1 file, +1 -0"));
  EXPECT_THAT(product.diff(), HasSubstr("\n-1\n+mine\n+agent\n"));
}

TEST(Baseline, B3_OutsideGit_WithoutConfiguration_ShowsRealDiffs) {
  Product product;
  product.sh("echo 1 > changed; echo 1 > gone");
  const std::vector<std::string> command = {"run", "--", "sh", "-c",
                                            "echo 2 > changed; rm gone; echo n > new"};
  EXPECT_THAT(product.sandglass(command).run().err, HasSubstr("3 files, +2 -2"));
  const std::string diff = product.diff();
  EXPECT_THAT(diff, HasSubstr("--- a/changed\n+++ b/changed\n@@ -1 +1 @@\n-1\n+2\n"));
  EXPECT_THAT(diff, HasSubstr("deleted file mode 100644\n"));
  EXPECT_THAT(diff, HasSubstr("new file mode 100644\n"));
  EXPECT_EQ(status_of(product).at("baselineAt"), "snapshot");
}

TEST(Baseline, B3_SnapshotOfADefinition_ComparesWithTheDirtyFiles) {
  Product product;
  product.repository("echo 1 > f");
  product.commit_all();
  product.sh("echo dirty > f; echo mine > untracked");
  product.dir().write("c.yaml",
                      "version: 1\nsandboxes:\n  s:\n    workspace: {baseline: snapshot}\n");
  const Ran ran =
      product.run("echo 2 > f; rm untracked; rm -rf .git", {"--config", product.dir() / "c.yaml"});
  EXPECT_EQ(ran.output.code, 0) << ran.output.err;
  const std::string diff = product.diff();
  EXPECT_THAT(diff, HasSubstr("\n-dirty\n+2\n"));
  EXPECT_THAT(diff, HasSubstr("\n-mine\n"));
}

// B9: a later run of the same box takes the pin, not what `.git` has become.
TEST(Baseline, B9_ResumedBox_KeepsItsBaseline) {
  Product product;
  product.repository("echo 1 > f");
  product.commit_all();
  product.dir().write("c.yaml", "version: 1\nsandboxes:\n  s:\n    lifecycle: {reuse: thread}\n");
  const std::vector<std::string> options = {"--config", product.dir() / "c.yaml", "--thread", "t"};
  EXPECT_EQ(product
                .run("rm -rf .git; git init -q; echo x > f; git add .; git -c user.name=t -c "
                     "user.email=t@x commit -qm x",
                     options)
                .output.code,
            0);
  EXPECT_EQ(product.run("echo 2 > f", options).output.code, 0);
  EXPECT_THAT(product.diff(), HasSubstr("\n-1\n+2\n"));
}

TEST(Baseline, B11_SubmoduleAndNestedRepository_HavePatchesOfTheirOwn) {  // T16
  Product product;
  const std::string sub = product.dir() / "sub";
  EXPECT_EQ(product.git("init -q " + sub).code, 0);
  EXPECT_EQ(product.git("-C " + sub + " commit -q --allow-empty -m 0").code, 0);
  product.dir().write("sub/x", "a\n");
  EXPECT_EQ(product.git("-C " + sub + " add x").code, 0);
  EXPECT_EQ(product.git("-C " + sub + " commit -qm a").code, 0);
  product.repository();
  EXPECT_EQ(product.git("-c protocol.file.allow=always submodule add -q " + sub + " m").code, 0);
  product.commit_all();
  EXPECT_EQ(product.git("clone -q " + sub + " own").code, 0);
  const Ran ran = product.run("echo b > m/x; echo b > own/x; rm -rf .git own/.git");
  EXPECT_EQ(ran.count("change", "m/x"), 1u);
  const std::string diff = product.diff();
  EXPECT_THAT(diff, HasSubstr("diff --git a/m/x b/m/x\n"));
  EXPECT_THAT(diff, HasSubstr("diff --git a/own/x b/own/x\n"));
  EXPECT_THAT(diff, HasSubstr("\n-a\n+b\n"));
  EXPECT_THAT(diff, Not(HasSubstr("Subproject")));
}

TEST(Baseline, B19_BloblessSparseClone_SaysWhatIsMissingOnce) {
  Product product;
  const std::string big = product.dir() / "big";
  EXPECT_EQ(product.git("init -q " + big).code, 0);
  product.dir().write("big/src/in", "1\n");
  product.dir().write("big/other/out", "never fetched\n");
  EXPECT_EQ(product.git("-C " + big + " add -A").code, 0);
  EXPECT_EQ(product.git("-C " + big + " commit -qm 1").code, 0);
  EXPECT_EQ(product.git("-C " + big + " config uploadpack.allowFilter true").code, 0);
  EXPECT_EQ(product.git("clone -q --filter=blob:none --sparse file://" + big + " .").code, 0);
  EXPECT_EQ(product.git("sparse-checkout set src").code, 0);
  std::filesystem::remove_all(big);
  const Ran ran = product.run("echo 2 > src/in; mkdir -p other; echo 2 > other/out");
  EXPECT_EQ(ran.count("create", "other/out"), 1u);
  const Output diff = product.sandglass({"diff"}).run();
  EXPECT_THAT(diff.out, HasSubstr("\n-1\n+2\n"));
  EXPECT_THAT(diff.err, HasSubstr("cannot tell what happened to other/out"));
}

TEST(Baseline, B2_PurgedSandbox_LeavesNoPin) {  // P2
  Product product;
  product.repository("echo 1 > f");
  product.commit_all();
  EXPECT_EQ(product.run("true").output.code, 0);
  const std::string id = status_of(product).at("id");
  const std::string folder = product.state() + "/instances/" + id;
  EXPECT_TRUE(std::filesystem::exists(folder + "/pins"));
  EXPECT_EQ(product.sandglass({"rm", "--purge", id}).run().code, 0);
  EXPECT_FALSE(std::filesystem::exists(folder));
}

}  // namespace
}  // namespace sandglass::testing
