#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "git/content.h"
#include "repo.h"

namespace sandglass::git {

using testing::TempDir;

static std::string head(const Repo& repo) {
  std::string out = repo.git({"rev-parse", "HEAD"});
  out.pop_back();
  return out;
}

TEST(Baseline, Pin_Commit_RecordsHashBranchAndObjects) {  // B1
  const Repo repo;
  repo.write("f", "1\n");
  repo.commit_all();
  const Baseline got = pin_baseline(repo.path());
  EXPECT_EQ(got.kind, BaselineKind::commit);
  EXPECT_EQ(got.commit, head(repo));
  EXPECT_EQ(got.branch, "main");
  EXPECT_EQ(got.objects, repo / ".git/objects");
  EXPECT_EQ(got.prefix, "");
  EXPECT_EQ(got.note, "");
}

TEST(Baseline, Pin_PackedRefsAndDetachedHead_AreRead) {
  const Repo repo;
  repo.commit_all();
  repo.git({"pack-refs", "--all"});
  EXPECT_EQ(pin_baseline(repo.path()).commit, head(repo));
  repo.git({"checkout", "-q", "--detach"});
  EXPECT_EQ(pin_baseline(repo.path()).commit, head(repo));
  EXPECT_EQ(pin_baseline(repo.path()).branch, "");
}

TEST(Baseline, Pin_NoCommitYet_IsNoCommit) {  // case B8
  for (const char* format : {"sha1", "sha256"}) {
    const Repo repo({std::string("--object-format=") + format});
    const Baseline got = pin_baseline(repo.path());
    EXPECT_EQ(got.kind, BaselineKind::no_commit) << format;
    EXPECT_EQ(got.commit, "");
    EXPECT_EQ(got.branch, "main");
  }
}

TEST(Baseline, Pin_NotGit_IsNone) {
  TempDir dir;
  EXPECT_EQ(pin_baseline(dir.path()).kind, BaselineKind::none);
  dir.write(".git/nothing", "");  // as git: no repository, look further up
  EXPECT_EQ(pin_baseline(dir.path()).kind, BaselineKind::none);
  EXPECT_EQ(pin_baseline(dir / "missing").kind, BaselineKind::none);
}

TEST(Baseline, Pin_FormatsWeCannotRead_AreUnsupportedWithANote) {  // T16b
  const Repo sha256({"--object-format=sha256"});
  sha256.commit_all();
  EXPECT_EQ(pin_baseline(sha256.path()).kind, BaselineKind::unsupported);
  EXPECT_NE(pin_baseline(sha256.path()).note, "");

  const Repo reftable;
  reftable.write(".git/config", "[extensions]\n\trefStorage = reftable ; comment\n");
  reftable.write(".git/HEAD", "ref: refs/heads/.invalid\n");
  EXPECT_EQ(pin_baseline(reftable.path()).kind, BaselineKind::unsupported);

  const Repo strange;
  strange.write(".git/HEAD", "HEAD\n");  // the word is never a hash
  EXPECT_EQ(pin_baseline(strange.path()).kind, BaselineKind::unsupported);
  EXPECT_EQ(pin_baseline(strange.path()).commit, "");
}

TEST(Baseline, Pin_LinkedWorktree_IsFoundThroughCommondir) {  // case B10, T17
  const Repo repo;
  repo.write("f", "1\n");
  repo.commit_all();
  TempDir other;
  repo.git({"worktree", "add", "-q", "-b", "side", other / "wt"});
  repo.git({"commit", "-q", "--allow-empty", "-m", "main moves on"});
  const Baseline got = pin_baseline(other / "wt");
  EXPECT_EQ(got.kind, BaselineKind::commit);
  EXPECT_EQ(got.branch, "side");
  EXPECT_EQ(got.objects, repo / ".git/objects");
  EXPECT_NE(got.commit, head(repo));
  const auto content = open_content(other / "wt");
  other.write("wt/f", "2\n");
  EXPECT_NE(content->get("f", Which::diff).bytes.find("-1\n+2\n"), std::string::npos);
}

TEST(Baseline, Pin_SubmoduleAsWorkspace_IsItsOwnRepository) {
  const Repo library, repo;
  library.write("x", "lib\n");
  library.commit_all();
  repo.git({"submodule", "--quiet", "add", library.path(), "m"});
  repo.commit_all();
  const Baseline got = pin_baseline(repo / "m");
  EXPECT_EQ(got.kind, BaselineKind::commit) << got.note;
  EXPECT_EQ(got.commit, head(library));
}

TEST(Baseline, Pin_PointerThatIsNotAnswered_IsRefused) {  // B9
  const Repo secret;
  secret.commit_all();
  TempDir ws;
  ws.write(".git", "gitdir: " + (secret / ".git") + "\n");
  EXPECT_EQ(pin_baseline(ws.path()).kind, BaselineKind::unsupported);
  EXPECT_NE(pin_baseline(ws.path()).note.find("does not point back"), std::string::npos);

  // A git directory of the agent's own making, which points back but borrows another's objects.
  TempDir made;
  made.write(".git", "gitdir: fake\n");
  made.write("fake/HEAD", "ref: refs/heads/main\n");
  made.write("fake/gitdir", made / ".git");
  made.write("fake/commondir", secret / ".git");
  EXPECT_EQ(pin_baseline(made.path()).kind, BaselineKind::unsupported);

  TempDir direct;
  direct.write(".git/HEAD", "ref: refs/heads/main\n");
  direct.write(".git/commondir", secret / ".git");
  EXPECT_EQ(pin_baseline(direct.path()).kind, BaselineKind::unsupported);
}

TEST(Baseline, Pin_SymbolicLinks_AreNotFollowed) {  // B9
  const Repo secret;
  secret.commit_all();
  TempDir ws;
  ASSERT_EQ(::symlink((secret / ".git").c_str(), (ws / ".git").c_str()), 0);
  EXPECT_EQ(pin_baseline(ws.path()).kind, BaselineKind::unsupported);

  const Repo repo;
  repo.remove(".git/objects");
  ASSERT_EQ(::symlink((secret / ".git/objects").c_str(), (repo / ".git/objects").c_str()), 0);
  EXPECT_EQ(pin_baseline(repo.path()).kind, BaselineKind::unsupported);
}

TEST(Baseline, Pin_RefNameThatLeadsOut_IsNotRead) {  // B9
  const Repo repo;
  repo.commit_all();
  TempDir outside;
  outside.write("hash", head(repo) + "\n");
  for (const std::string& name : {"refs/../../../" + outside.path() + "/hash", outside / "hash"}) {
    repo.write(".git/HEAD", "ref: " + name + "\n");
    EXPECT_NE(pin_baseline(repo.path()).kind, BaselineKind::commit) << name;
  }
}

TEST(Baseline, Pin_ConfigIncludes_AreNotFollowed) {  // B7
  const Repo repo;
  repo.commit_all();
  TempDir outside;
  outside.write("config", "[extensions]\n\tobjectFormat = sha256\n");
  repo.git({"config", "include.path", outside / "config"});
  EXPECT_EQ(pin_baseline(repo.path()).kind, BaselineKind::commit);
}

TEST(Baseline, Pin_SharedClone_RecordsItsAlternates) {  // B9
  const Repo origin;
  origin.write("f", "1\n");
  origin.commit_all();
  TempDir dir;
  origin.git({"clone", "-q", "--shared", origin.path(), dir / "one"});
  origin.git({"clone", "-q", "--shared", dir / "one", dir / "two"});
  const Baseline got = pin_baseline(dir / "two");
  EXPECT_EQ(got.alternates,
            (std::vector<std::string>{dir / "one/.git/objects", origin / ".git/objects"}));
  EXPECT_EQ(open_content(dir / "two")->get("f", Which::before).bytes, "1\n");
}

TEST(Baseline, Pin_AlternatesMadeLater_AreNotFollowed) {  // B9
  const Repo origin;
  origin.write("f", "1\n");
  origin.commit_all();
  TempDir dir;
  origin.git({"clone", "-q", "--shared", origin.path(), dir / "ws"});
  const std::string list = dir.read("ws/.git/objects/info/alternates");
  dir.write("ws/.git/objects/info/alternates", "");
  const auto content = open_content(dir / "ws");
  dir.write("ws/.git/objects/info/alternates", list);
  EXPECT_EQ(content->get("f", Which::before).state, PieceState::fault);
}

TEST(Baseline, Pin_GitEnvironment_ChangesNothing) {  // case B18
  const Repo repo, other;
  repo.commit_all();
  other.commit_all();
  const Baseline plain = pin_baseline(repo.path());
  ::setenv("GIT_DIR", (other / ".git").c_str(), 1);
  ::setenv("GIT_WORK_TREE", "/", 1);
  ::setenv("GIT_OBJECT_DIRECTORY", "/nonexistent", 1);
  ::setenv("GIT_INDEX_FILE", "/nonexistent", 1);
  const Baseline got = pin_baseline(repo.path());
  for (const char* name : {"GIT_DIR", "GIT_WORK_TREE", "GIT_OBJECT_DIRECTORY", "GIT_INDEX_FILE"})
    ::unsetenv(name);
  EXPECT_EQ(got, plain);
}

TEST(Baseline, Pin_AnotherOwner_StillWorks) {  // case B9
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to give files away";
  const Repo repo;
  repo.write("f", "1\n");
  repo.commit_all();
  for (const auto& entry : std::filesystem::recursive_directory_iterator(repo.path()))
    ASSERT_EQ(::lchown(entry.path().c_str(), 12345, 12345), 0);
  ASSERT_EQ(::chown(repo.path().c_str(), 12345, 12345), 0);
  const auto content = open_content(repo.path());
  repo.write("f", "2\n");
  EXPECT_NE(content->get("f", Which::diff).bytes.find("-1\n+2\n"), std::string::npos);
}

TEST(Baseline, Pin_SomeoneElsesRepositoryAbove_IsSaid) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to give files away";
  const Repo repo;
  repo.write("ws/f", "1\n");
  repo.commit_all();
  ASSERT_EQ(::chown((repo / ".git").c_str(), 12345, 12345), 0);
  const Baseline got = pin_baseline(repo / "ws");
  EXPECT_EQ(got.prefix, "ws");
  EXPECT_NE(got.note.find("12345"), std::string::npos);
}

TEST(Baseline, Json_AnyBytes_RoundTrip) {
  Baseline baseline;
  baseline.kind = BaselineKind::commit;
  baseline.commit = std::string(40, 'a');
  baseline.branch = "br\xff\"anch";
  baseline.objects = "/tmp/\xe4/objects";
  baseline.alternates = {"/a", "/b\xfe"};
  baseline.prefix = "sub/dir";
  baseline.note = "a \"note\"";
  baseline.ignore_lines = {"*.o", "caf\xe9", "tab\there"};
  baseline.ignore_files = {{"", {"x"}}, {"sub", {"y", "z"}}};
  baseline.line_settings = {"input", "crlf", "*.c text\n\xff\n"};
  baseline.lfs_store = "/tmp/\xe4/lfs/objects";
  const Result<Baseline> got = Baseline::from_json(baseline.to_json());
  ASSERT_TRUE(got) << got.error().text;
  EXPECT_EQ(*got, baseline);
  EXPECT_EQ(Baseline::from_json("{}").error().fault, Fault::corrupt);
  EXPECT_EQ(Baseline::from_json("{\"kind\":\"odd\"}").error().fault, Fault::corrupt);
}

}  // namespace sandglass::git
