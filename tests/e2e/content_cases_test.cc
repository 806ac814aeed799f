// More cases B of the public bug reports, through the whole product: line ends, binary and huge
// files, modes and links, ignored secrets, worktrees, partial clones, other users.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "e2e/product.h"

namespace sandglass::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::map<std::string, std::string> diffs_of(const Ran& ran) {
  std::map<std::string, std::string> out;  // the last of each path, exact bytes
  for (const auto& line : ran.lines) {
    if (line.value("name", "") != "sandbox.file.diff") continue;
    const auto& value = line.at("value");
    out[value.at("path")] =
        value.contains("diff_b64") ? unbase64(value.at("diff_b64")) : value.value("diff", "");
  }
  return out;
}

Ran run_configured(const Product& product, const std::string& sandbox, const std::string& script) {
  product.dir().write("c.yaml", "version: 1\nsandboxes:\n  t: {" + sandbox + "}\n");
  return product.run(script, {"--config", product.dir() / "c.yaml", "--diff"});
}

TEST(Diff, B14_AutoCrlf_OneLineDiffers) {  // B14, B6a
  Product product;
  product.repository("git config core.autocrlf true; printf 'a\\r\\nb\\r\\n' > f");
  product.commit_all();
  const Ran ran = product.run("printf 'a\\r\\nB\\r\\n' > f", {"--diff"});
  const std::string patch = diffs_of(ran)["/workspace/f"];
  EXPECT_TRUE(patch.ends_with("@@ -1,2 +1,2 @@\n a\n-b\n+B\n")) << patch;
  EXPECT_EQ(product.diff(), patch);
  product.dir().write("patch", patch);
  EXPECT_EQ(product.git("checkout -q f").code, 0);
  EXPECT_EQ(product.git("apply --check " + (product.dir() / "patch")).code, 0);
  EXPECT_EQ(product.git("apply " + (product.dir() / "patch")).code, 0);
  EXPECT_EQ(product.dir().read("repo/f"), "a\r\nB\r\n");
}

TEST(Diff, B15_BinaryLatinAndHuge_AreBounded) {  // B15, T14, T15
  Product product;
  product.repository(
      "head -c 1000000 /dev/urandom > b; printf 'caf\\351\\n' > l; seq 5000000 > big");
  product.commit_all();
  const Ran ran = product.run(
      "printf x | dd of=b bs=1 seek=500000 conv=notrunc 2>/dev/null; printf 'th\\351\\n' > l; "
      "echo more >> big",
      {"--diff"});
  auto diffs = diffs_of(ran);
  EXPECT_THAT(diffs["/workspace/b"], HasSubstr("Binary files a/b and b/b differ\n"));
  EXPECT_THAT(diffs["/workspace/l"], HasSubstr("-caf\xe9\n+th\xe9\n"));
  EXPECT_EQ(diffs["/workspace/big"], "");
  EXPECT_THAT(product.sandglass({"diff", "--json"}).run().out, HasSubstr("too_large"));
}

TEST(Diff, T14_BinaryFull_AppliesWithGit) {  // T14, B15
  Product product;
  product.repository("head -c 20000 /dev/urandom > b; printf 'gone\\0' > d");
  product.commit_all();
  const Ran ran = run_configured(product, "binary: full",
                                 "printf 'x\\0y' | dd of=b bs=1 seek=9000 conv=notrunc "
                                 "2>/dev/null; printf 'new\\0' > n; rm d");
  const std::string wanted = product.dir().read("repo/b");
  EXPECT_THAT(diffs_of(ran)["/workspace/b"], HasSubstr("GIT binary patch\n"));
  const std::string patch = product.diff();
  product.dir().write("patch", patch);
  product.sh("rm n");
  EXPECT_EQ(product.git("checkout -q .").code, 0);
  EXPECT_EQ(product.git("apply " + (product.dir() / "patch")).code, 0);
  EXPECT_EQ(product.dir().read("repo/b"), wanted);
  EXPECT_EQ(product.dir().read("repo/n"), std::string("new\0", 4));
  EXPECT_FALSE(std::filesystem::exists(product.workspace() + "/d"));
}

TEST(Diff, B16_ModeLinkAndTouch) {  // B16, T11, T12
  Product product;
  product.repository("echo x > s.sh; ln -s old link; echo same > same.txt");
  product.commit_all();
  const Ran ran = product.run(
      "chmod +x s.sh; ln -sfn other link; touch same.txt; cp -a same.txt t && mv t same.txt",
      {"--diff"});
  EXPECT_EQ(product.diff(), product.git("diff --full-index --no-renames").out);
  auto diffs = diffs_of(ran);
  EXPECT_THAT(diffs["/workspace/s.sh"], HasSubstr("old mode 100644\nnew mode 100755\n"));
  EXPECT_THAT(diffs["/workspace/link"], HasSubstr(" 120000\n"));
  EXPECT_EQ(diffs["/workspace/same.txt"], "");
  product.expect_diff_applies();
}

TEST(Diff, T13_FileAndDirectoryTradePlaces_ByPath) {  // T13, T12
  Product product;
  product.repository("echo f > f; mkdir d; echo x > d/x; echo l > l");
  product.commit_all();
  const Ran ran = product.run(
      "rm f; mkdir f; echo in > f/x; rm -r d; echo file > d; rm l; ln -s f l", {"--diff"});
  EXPECT_EQ(ran.output.code, 0);
  const std::string patch = product.diff();
  EXPECT_THAT(patch, HasSubstr("--- a/f\n+++ /dev/null\n"));
  EXPECT_THAT(patch, HasSubstr("--- a/d/x\n+++ /dev/null\n"));
  EXPECT_THAT(patch, HasSubstr("new file mode 120000\n"));
  product.expect_diff_applies();
}

TEST(Diff, B17_EmptiedOrReplacedIgnoreFile_OpensNothing) {  // B17, B8
  for (const char* trick : {"printf '' > .gitignore", "rm .gitignore; ln -s /dev/null .gitignore",
                            "rm .gitignore; mkfifo .gitignore", "rm .gitignore; mkdir .gitignore",
                            "rm .gitignore; head -c 20000000 /dev/zero > .gitignore",
                            "printf '!.env\\n!secret\\n' > .gitignore"}) {
    Product product;
    product.repository(
        "printf '.env\\nsecret\\n' > .gitignore; mkdir sub; printf '*.key\\n' > sub/.gitignore");
    product.commit_all();
    product.sh("mkdir -p .git/info; printf 'private\\n' > .git/info/exclude");
    product.dir().write("do.sh", std::string("echo TOPSECRET=1 > .env; ") + trick +
                                     "; : > sub/.gitignore; : > .git/info/exclude; echo "
                                     "TOPSECRET=2 > .env; echo TOPSECRET > secret; echo TOPSECRET "
                                     "> sub/a.key; echo TOPSECRET > private");
    const Ran ran = product.run("sh ../do.sh", {"--diff"});
    EXPECT_EQ(ran.output.code, 0) << trick;
    EXPECT_GE(ran.count("create", ".env") + ran.count("change", ".env"), 1u) << trick;
    EXPECT_THAT(ran.output.out, Not(HasSubstr("TOPSECRET"))) << trick;
    EXPECT_THAT(product.diff(), Not(HasSubstr("TOPSECRET"))) << trick;
  }
}

TEST(Diff, B17_RedactedTrackedFileOutsideGitToo) {  // B17, T8a
  for (const bool git : {true, false}) {
    Product product;
    product.sh("mkdir keys; echo TOPSECRET=0 > keys/a; echo TOPSECRET=0 > db.pem");
    if (git) {
      product.repository();
      product.commit_all();
    }
    product.dir().write("do.sh",
                        "echo TOPSECRET=1 > keys/a; echo TOPSECRET=1 > db.pem; echo o > o");
    const Ran ran = run_configured(product, "redact: [keys/, \"*.pem\"]", "sh ../do.sh");
    EXPECT_EQ(ran.count("change", "keys/a"), 1u);
    EXPECT_THAT(ran.output.out, Not(HasSubstr("TOPSECRET")));
    EXPECT_THAT(product.diff(), Not(HasSubstr("TOPSECRET")));
    EXPECT_THAT(product.diff(), HasSubstr("+o\n"));
  }
}

TEST(Diff, B10_LinkedWorktree_HasItsBaseline) {  // B10, T17
  Product product;
  std::filesystem::create_directories(product.dir() / "repo");
  product.repository("echo 1 > f");
  product.commit_all();
  EXPECT_EQ(product.git("worktree add -q -b side ../wt").code, 0);
  const std::string worktree = product.dir() / "wt";
  EXPECT_EQ(product.sandglass({"run", "--", "sh", "-c", "echo 2 > f"}).in(worktree).run().code, 0);
  EXPECT_THAT(product.sandglass({"diff"}).in(worktree).run().out, HasSubstr("-1\n+2\n"));
}

TEST(Diff, B19_SparseAndBlobless_NoDeletesNoFetch) {  // B19
  Product product;
  std::filesystem::create_directories(product.dir() / "origin");
  const auto origin = [&](const std::string& arguments) {
    return product.git("-C " + (product.dir() / "origin") + " " + arguments).code;
  };
  ASSERT_EQ(origin("init -q"), 0);
  product.dir().write("origin/src/a", "1\n");
  product.dir().write("origin/other/b", "another\n");
  ASSERT_EQ(
      origin("add -A") + origin("commit -q -m one") + origin("config uploadpack.allowFilter true"),
      0);
  ASSERT_EQ(product
                .git("-c protocol.file.allow=always clone -q --filter=blob:none --sparse file://" +
                     (product.dir() / "origin") +
                     " ../clone && cd ../clone && git -c "
                     "protocol.file.allow=always sparse-checkout set src")
                .code,
            0);
  std::filesystem::rename(product.dir() / "origin", product.dir() / "gone");
  const std::string clone = product.dir() / "clone";
  const Output done = product
                          .sandglass({"run", "--json", "--diff", "--", "sh", "-c",
                                      "echo 2 > src/a; mkdir other; echo 2 > other/b"})
                          .in(clone)
                          .run();
  const Ran ran = Product::taken_apart(done);
  EXPECT_EQ(ran.output.code, 0) << ran.output.err;
  for (const Seen& seen : ran.files) EXPECT_NE(seen.type, "delete") << seen.path;
  auto diffs = diffs_of(ran);
  EXPECT_THAT(diffs["/workspace/src/a"], HasSubstr("-1\n+2\n"));
  EXPECT_EQ(diffs["/workspace/other/b"], "");
  EXPECT_THAT(done.err, HasSubstr("other/b"));
}

TEST(Diff, B9_AnotherUserObserves_WithoutConfiguration) {  // B9 of the cases
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  if (shell("command -v setpriv", "/").code != 0) GTEST_SKIP() << "needs setpriv";
  Product product;
  product.repository("echo 1 > f");
  product.commit_all();
  product.sh("chown -R 12345:12345 .; chmod -R a+rwX . ..");
  const std::string state = product.dir() / "anybody";
  std::filesystem::create_directories(state);
  ::chmod(state.c_str(), 0777);
  const auto as_user = [&](std::vector<std::string> arguments) {
    std::vector<std::string> argv{"setpriv", "--reuid=1000", "--regid=1000",  "--clear-groups",
                                  SANDGLASS, "--state-dir",  state + "/state"};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return Command(std::move(argv))
        .in(product.workspace())
        .env("HOME", product.dir() / "home")
        .run();
  };
  const Output done = as_user({"run", "--", "sh", "-c", "echo 2 > f"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(as_user({"diff"}).out, HasSubstr("-1\n+2\n"));
  EXPECT_FALSE(std::filesystem::exists(product.dir() / "home/.gitconfig"));
}

}  // namespace
}  // namespace sandglass::testing
