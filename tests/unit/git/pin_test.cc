// The baseline survives the agent (rules B2, B3, B9; rows T6, T7, T16, T17; cases B6, B11, B19).
#include "git/pin.h"

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "repo.h"
#include "support/logged.h"

namespace sandglass::git {
namespace {

namespace fs = std::filesystem;
using testing::Logged;
using testing::TempDir;

class Pinned {
 public:
  explicit Pinned(const std::string& workspace, PinOptions options = {}) : workspace_(workspace) {
    options.folder = folder();
    pin = Pin::make(workspace, options);
  }
  std::string folder() const { return state_ / "pins/1"; }
  Piece get(const std::string& path, Which which = Which::before) const {
    return get_of(pin->baseline(), path, which);
  }
  Piece at_ready(const std::string& path, Which which) const {
    Baseline baseline = pin->baseline();
    baseline.snapshot = true;
    return get_of(baseline, path, which);
  }
  std::string before(const std::string& path) const { return get(path).bytes; }
  // Until there is nothing more to copy.
  PinState copied() {
    pin->start();
    pin->copy(60'000);
    pin->finish(0);
    return state();
  }
  PinState state() const { return pin_state(folder()); }
  const TempDir& state_dir() const { return state_; }

  std::unique_ptr<Pin> pin;

 private:
  Piece get_of(const Baseline& baseline, const std::string& path, Which which) const {
    auto content = Content::open(baseline, workspace_);
    EXPECT_TRUE(content.has_value()) << content.error().text;
    return content ? (*content)->get(path, which) : Piece{};
  }
  TempDir state_;
  const std::string workspace_;
};

void fill(const Repo& repo) {
  std::string text;
  for (int i = 0; i < 200; i++) text += "line " + std::to_string(i) + "\n";
  repo.write("packed", text + "one\n");
  repo.write("src/a/deep", "deep\n");
  repo.commit_all("first");
  repo.write("packed", text + "two\n");
  repo.commit_all("second");
  repo.git({"repack", "-adq"});
  repo.write("loose", "loose\n");
  repo.commit_all("third");
}

// What an agent does to the repository, each with links only and with the copy.
struct Harm {
  const char* name;
  std::function<void(const Repo&)> done;
};

const Harm kHarms[] = {
    {"removed", [](const Repo& repo) { fs::remove_all(repo / ".git"); }},
    {"collected",
     [](const Repo& repo) {
       repo.git({"checkout", "-q", "--orphan", "other"});
       repo.git({"rm", "-rqf", "--cached", "."});
       repo.write("other", "other\n");
       repo.git({"add", "other"});
       repo.git({"commit", "-qm", "other"});
       repo.git({"branch", "-D", "-q", "main"});
       repo.git({"reflog", "expire", "--expire=now", "--all"});
       repo.git({"gc", "-q", "--prune=now"});
     }},
    {"amended",
     [](const Repo& repo) {
       repo.write("packed", "else\n");
       repo.git({"commit", "-qa", "--amend", "-m", "amended"});
       repo.git({"reflog", "expire", "--expire=now", "--all"});
       repo.git({"gc", "-q", "--prune=now"});
     }},
    {"replaced",
     [](const Repo& repo) {
       const std::string first = repo.git({"rev-parse", "HEAD~1"}).substr(0, 40);
       repo.git({"replace", "HEAD", first});
     }},
    {"rewritten",
     [](const Repo& repo) {
       repo.git({"stash", "-q"});
       repo.git({"filter-branch", "-f", "--tree-filter", "rm -f packed", "--", "--all"});
       repo.git({"update-ref", "-d", "refs/original/refs/heads/main"});
       repo.git({"reflog", "expire", "--expire=now", "--all"});
       repo.git({"gc", "-q", "--prune=now"});
     }},
    {"truncated",
     [](const Repo& repo) {
       for (const auto& file : fs::recursive_directory_iterator(repo / ".git/objects"))
         if (file.is_regular_file()) {
           fs::permissions(file.path(), fs::perms::owner_all);
           fs::resize_file(file.path(), file.file_size() / 2);
         }
     }},
};

TEST(Pin, HarmAfterReady_Linked_NeverAWrongByte) {  // B2, B6
  for (const Harm& harm : kHarms) {
    Repo repo;
    fill(repo);
    const std::string packed = repo.read("packed");
    Pinned pinned(repo.path());
    ASSERT_EQ(pinned.state().word, PinWord::linked) << harm.name;
    repo.write("loose", "changed\n");
    harm.done(repo);
    Logged logged;
    const bool shares = std::string(harm.name) == "truncated";
    for (const auto& [path, bytes] : {std::pair<std::string, std::string>("packed", packed),
                                      {"loose", "loose\n"},
                                      {"src/a/deep", "deep\n"}}) {
      const Piece piece = pinned.get(path);
      if (shares && piece.state == PieceState::fault) continue;
      EXPECT_EQ(piece.bytes, bytes) << harm.name << " " << path << logged.text();
    }
    if (shares) {
      EXPECT_GT(logged.count("errors: "), 0u);
    }
  }
}

TEST(Pin, HarmAfterReady_Copied_Answers) {  // B2, B6
  for (const Harm& harm : kHarms) {
    Repo repo;
    fill(repo);
    const std::string packed = repo.read("packed");
    Pinned pinned(repo.path());
    const PinState state = pinned.copied();
    ASSERT_EQ(state.word, PinWord::copied) << harm.name << state.why;
    EXPECT_FALSE(fs::exists(pinned.folder() + "/links"));
    repo.write("loose", "changed\n");
    harm.done(repo);
    EXPECT_EQ(pinned.before("packed"), packed) << harm.name;
    EXPECT_EQ(pinned.before("loose"), "loose\n") << harm.name;
    EXPECT_EQ(pinned.before("src/a/deep"), "deep\n") << harm.name;
  }
}

TEST(Pin, TruncatedWhileOpen_CopyAnswers) {  // B2
  Repo repo;
  fill(repo);
  const std::string packed = repo.read("packed");
  Pinned pinned(repo.path());
  auto content = Content::open(pinned.pin->baseline(), repo.path());
  ASSERT_TRUE(content.has_value());
  EXPECT_EQ((*content)->get("src/a/deep", Which::before).bytes, "deep\n");
  ASSERT_EQ(pinned.copied().word, PinWord::copied);
  kHarms[5].done(repo);
  EXPECT_EQ((*content)->get("packed", Which::before).bytes, packed);
}

TEST(Pin, AlternatesDeleted_StillAnswers) {  // B2
  Repo upstream;
  fill(upstream);
  Repo middle, repo;
  fs::remove_all(middle.path());
  fs::remove_all(repo.path());
  ASSERT_EQ(run_git("/", {"clone", "-qs", upstream.path(), middle.path()}).code, 0);
  ASSERT_EQ(run_git("/", {"clone", "-qs", middle.path(), repo.path()}).code, 0);
  Pinned pinned(repo.path());
  EXPECT_EQ(pinned.state().word, PinWord::linked);
  fs::remove_all(upstream / ".git");
  fs::remove_all(middle / ".git");
  EXPECT_EQ(pinned.before("loose"), "loose\n");
  EXPECT_EQ(pinned.before("src/a/deep"), "deep\n");
}

TEST(Pin, Copy_IsAPackThatGitReads) {  // B2
  Repo repo;
  fill(repo);
  Pinned pinned(repo.path());
  ASSERT_EQ(pinned.copied().word, PinWord::copied);
  Repo other({"--bare"});
  other.write("objects/info/alternates", fs::canonical(pinned.folder()).string() + "/objects\n");
  const std::string commit = pinned.pin->baseline().commit;
  EXPECT_EQ(other.git({"show", commit + ":loose"}), "loose\n");
  EXPECT_EQ(other.git({"ls-tree", "-r", "--name-only", commit}), "loose\npacked\nsrc/a/deep\n");
  EXPECT_EQ(run_git(pinned.folder(), {"verify-pack", "objects/pack/pack-copy.idx"}).code, 0);
}

TEST(Pin, KilledWhileCopying_BeginsAnewAndNothingIsLeft) {  // B2
  Repo repo;
  fill(repo);
  Pinned pinned(repo.path());
  const Baseline baseline = pinned.pin->baseline();
  pinned.pin.reset();
  std::ofstream(pinned.folder() + "/objects/pack/tmp-pack-copy.pack") << "PACK half";
  std::ofstream(pinned.folder() + "/objects/pack/pack-copy.pack") << "PACK whole, no index";
  fs::remove_all(repo / ".git");
  pinned.pin = Pin::resume(baseline);
  EXPECT_EQ(pinned.before("loose"), "loose\n");
  EXPECT_EQ(pinned.copied().word, PinWord::copied);
  EXPECT_EQ(pinned.before("packed"), repo.read("packed"));
  for (const auto& file : fs::recursive_directory_iterator(pinned.folder()))
    EXPECT_EQ(file.path().filename().string().rfind("tmp-", 0), std::string::npos);
}

// B9: what resumes looks at nothing of the workspace.
TEST(Pin, ResumedWithAnotherRepository_KeepsTheFirst) {
  Repo repo;
  fill(repo);
  Pinned pinned(repo.path());
  const Baseline baseline = pinned.pin->baseline();
  pinned.pin.reset();
  fs::remove_all(repo / ".git");
  repo.git({"init", "-q"});
  repo.write("loose", "another\n");
  repo.commit_all("another");
  pinned.pin = Pin::resume(baseline);
  EXPECT_EQ(pinned.pin->baseline(), baseline);
  EXPECT_EQ(pinned.before("loose"), "loose\n");
}

TEST(Pin, OtherFileSystem_HeldThenCopied) {  // B2
  if (::geteuid() != 0) GTEST_SKIP() << "mounting needs root";
  TempDir dir;
  if (::mount("tmpfs", dir.path().c_str(), "tmpfs", 0, "size=64m") != 0)
    GTEST_SKIP() << "mounting is not allowed here";
  for (bool packed : {true, false}) {
    Repo repo;
    fill(repo);
    if (packed) repo.git({"repack", "-adq"});
    PinOptions options;
    options.folder = dir / "pin";
    auto pin = Pin::make(repo.path(), options);
    EXPECT_EQ(pin_state(dir / "pin").word, PinWord::held);
    auto content = Content::open(pin->baseline(), repo.path());
    fs::remove_all(repo / ".git");
    EXPECT_EQ((*content)->get("src/a/deep", Which::before).bytes, "deep\n");
    pin->start();
    pin->finish(60'000);
    EXPECT_EQ(pin_state(dir / "pin").word, PinWord::copied);
    content = Content::open(pin->baseline(), repo.path());
    EXPECT_EQ((*content)->get("loose", Which::before).bytes, "loose\n");
    EXPECT_EQ((*content)->get("src/a/deep", Which::before).bytes, "deep\n");
  }
  ::umount(dir.path().c_str());
}

TEST(Pin, DiskFull_IsSaid) {  // B2
  if (::geteuid() != 0) GTEST_SKIP() << "mounting needs root";
  TempDir dir;
  if (::mount("tmpfs", dir.path().c_str(), "tmpfs", 0, "size=256k") != 0)
    GTEST_SKIP() << "mounting is not allowed here";
  Repo repo;
  std::string noise;
  uint32_t x = 1;
  for (int i = 0; i < 400'000; i++)
    noise += static_cast<char>((x = x * 1664525 + 1013904223) >> 24);
  repo.write("noise", noise);
  repo.commit_all();
  repo.git({"repack", "-adq"});
  PinOptions options;
  options.folder = dir / "pin";
  Logged logged;
  auto pin = Pin::make(repo.path(), options);
  pin->start();
  pin->finish(60'000);
  const PinState state = pin_state(dir / "pin");
  EXPECT_EQ(state.word, PinWord::partial);
  EXPECT_EQ(state.why, "not copied: the disk is nearly full");
  EXPECT_EQ(logged.count("nearly full"), 1u);
  pin.reset();
  ::umount(dir.path().c_str());
}

// ---- the files at ready ------------------------------------------------------------------------

void expect_tree_as_git_writes_it(const Repo& repo) {
  Pinned pinned(repo.path());
  repo.git({"add", "-A"});
  const std::string& tree = pinned.pin->baseline().tree;
  const std::string wanted = repo.git({"write-tree"});
  if (tree + "\n" == wanted) return;
  Repo reader({"--bare"});
  reader.write("objects/info/alternates", repo / ".git/objects\n" + pinned.folder() + "/objects\n");
  ADD_FAILURE() << reader.git({"ls-tree", "-rt", tree}) << "git:\n"
                << reader.git({"ls-tree", "-rt", wanted.substr(0, 40)});
}

TEST(Ready, DirtyTree_IsWhatGitWouldWrite) {  // B3
  Repo repo;
  fill(repo);
  expect_tree_as_git_writes_it(repo);  // clean
  repo.write("packed", "dirty\n");
  repo.write("new/x y", "untracked\n");
  repo.write("src/a.c", "sorts before src/a/\n");
  repo.write(".gitignore", "*.log\nbuild/\n!keep.log\n");
  repo.write("a.log", "ignored\n");
  repo.write("keep.log", "not ignored\n");
  repo.write("build/deep/out", "ignored\n");
  repo.write("loose.d/only.log", "ignored\n");
  repo.remove("loose");
  fs::create_symlink("nowhere", repo / "link");
  fs::create_directories(repo / "empty/dir");
  fs::permissions(repo / "src/a/deep", fs::perms::owner_all);
  expect_tree_as_git_writes_it(repo);
  repo.remove("src");
  repo.write("src", "a file now\n");
  repo.remove("packed");
  repo.write("packed/inside", "a directory now\n");
  expect_tree_as_git_writes_it(repo);
}

TEST(Ready, NoCommitYet_IsWhatGitWouldWrite) {  // B3
  Repo repo;
  expect_tree_as_git_writes_it(repo);
  repo.write("a/b/c", "x\n");
  expect_tree_as_git_writes_it(repo);
}

TEST(Ready, RandomTrees_AreWhatGitWouldWrite) {  // B3
  std::mt19937 random(property_seed("ReadyTree"));
  const auto any = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const auto path = [&] {
    std::string out;
    for (int depth = any(3); depth >= 0; depth--)
      out += std::string(out.empty() ? "" : "/") + "abc-."[any(5)] + "n" + std::to_string(any(4));
    return out;
  };
  const auto change = [&](const Repo& repo) {
    const std::string name = path();
    std::error_code code;
    if (any(3) == 0) {
      fs::remove_all(repo / name, code);
      return;
    }
    for (fs::path up = fs::path(name).parent_path(); !up.empty(); up = up.parent_path())
      if (!fs::is_directory(fs::symlink_status(repo / up.string())))
        fs::remove(repo / up.string(), code);
    if (fs::is_directory(fs::symlink_status(repo / name))) return;
    fs::remove(repo / name, code);
    if (any(6) == 0) {
      fs::create_directories(fs::path(repo / name).parent_path());
      fs::create_symlink("to" + std::to_string(any(3)), repo / name);
      return;
    }
    repo.write(name, std::string(static_cast<size_t>(any(3)), static_cast<char>('a' + any(26))));
    if (any(4) == 0) fs::permissions(repo / name, fs::perms::owner_all);
  };
  for (const char* version : {"2", "4"}) {
    Repo repo;
    repo.git({"config", "index.version", version});
    for (int round = 0; round < 25; round++) {
      for (int i = any(12); i >= 0; i--) change(repo);
      if (any(2)) repo.commit_all("more");
      for (int i = any(12); i >= 0; i--) change(repo);
      expect_tree_as_git_writes_it(repo);
    }
  }
}

// Same size, same time, another content: nothing of the index tells, but it was just written.
TEST(Ready, ChangedInTheSameMoment_IsRead) {  // B3
  Repo repo;
  for (int i = 0; i < 20; i++) {
    repo.write("f", "a" + std::to_string(i % 10) + "\n");
    repo.commit_all();
    repo.write("f", "b" + std::to_string(i % 10) + "\n");
    Pinned pinned(repo.path());
    EXPECT_EQ(pinned.at_ready("f", Which::before).bytes, "b" + std::to_string(i % 10) + "\n");
  }
}

TEST(Ready, HostileIndex_OnlyCostsTime) {  // B7
  for (const std::string& index :
       {std::string("DIRC"), std::string(64, '\xff'), "DIRC" + std::string(100, '\0'),
        std::string("DIRC\0\0\0\4\xff\xff\xff\xff", 12) + std::string(500, 'x')}) {
    Repo repo;
    fill(repo);
    repo.write("packed", "dirty\n");
    repo.write(".git/index", index);
    Pinned pinned(repo.path());
    EXPECT_EQ(pinned.at_ready("packed", Which::before).bytes, "dirty\n");
    EXPECT_EQ(pinned.at_ready("loose", Which::diff).state, PieceState::same);
  }
}

TEST(Ready, DirtyAtStart_IsNobodysChange) {  // B3
  Repo repo;
  fill(repo);
  repo.write("packed", "dirty\n");
  repo.write("untracked", "mine\n");
  Pinned pinned(repo.path());
  fs::remove_all(repo / ".git");
  for (const char* path : {"packed", "untracked"}) {
    EXPECT_EQ(pinned.at_ready(path, Which::diff).state, PieceState::same);
    EXPECT_EQ(pinned.get(path, Which::diff).state, PieceState::here);
  }
  repo.write("packed", "dirty\nmore\n");
  EXPECT_NE(pinned.at_ready("packed", Which::diff).bytes.find("\n dirty\n+more\n"),
            std::string::npos);
}

TEST(Ready, Snapshot_TakesThePlaceOfHead) {  // B3
  Repo repo;
  fill(repo);
  repo.write("packed", "dirty\n");
  repo.write("untracked", "mine\n");
  repo.write("secret.pem", "K\n");
  repo.write(".git/info/exclude", "*.log\n");
  repo.write("a.log", "log\n");
  PinOptions options;
  options.compare = Compare::snapshot;
  options.redact = {"*.pem"};
  Pinned pinned(repo.path(), options);
  repo.remove("untracked");
  repo.write("a.log", "log2\n");
  EXPECT_EQ(pinned.before("packed"), "dirty\n");
  EXPECT_EQ(pinned.before("untracked"), "mine\n");
  EXPECT_EQ(pinned.get("packed", Which::diff).state, PieceState::same);
  EXPECT_NE(pinned.get("untracked", Which::diff).bytes.find("deleted file"), std::string::npos);
  EXPECT_EQ(pinned.get("a.log", Which::diff).state, PieceState::ignored);
  std::string all;
  for (const auto& file : fs::recursive_directory_iterator(pinned.folder()))
    if (file.is_regular_file()) all += file.path().string() + "\n";
  EXPECT_EQ(pinned.get("secret.pem").state, PieceState::absent) << all;
}

TEST(Ready, OutsideGit_ComparesWithTheFiles) {  // B3, T6, T7
  TempDir dir;
  dir.write("a/kept", "old\n");
  dir.write("gone", "gone\n");
  dir.write("node_modules/x", "skipped\n");
  PinOptions options;
  options.compare = Compare::automatic;
  options.skip = {"node_modules"};
  Pinned pinned(dir.path(), options);
  EXPECT_TRUE(pinned.pin->baseline().snapshot);
  dir.write("a/kept", "new\n");
  dir.write("new", "new\n");
  fs::remove(dir / "gone");
  EXPECT_EQ(pinned.before("a/kept"), "old\n");
  EXPECT_NE(pinned.get("a/kept", Which::diff).bytes.find("\n-old\n+new\n"), std::string::npos);
  EXPECT_NE(pinned.get("gone", Which::diff).bytes.find("deleted file"), std::string::npos);
  EXPECT_NE(pinned.get("new", Which::diff).bytes.find("new file"), std::string::npos);
  EXPECT_EQ(pinned.get("node_modules/x").state, PieceState::absent);
}

TEST(Ready, TooLargeAtReady_IsAFaultNotAGuess) {  // B3, T15
  Repo repo;
  fill(repo);
  repo.write("large", std::string(21'000'000, 'x'));
  Pinned pinned(repo.path());
  EXPECT_NE(pinned.pin->baseline().note.find("1 file was not read when the run began"),
            std::string::npos);
  Logged logged;
  EXPECT_EQ(pinned.at_ready("large", Which::before).state, PieceState::fault);
}

// ---- repositories below the workspace ----------------------------------------------------------

TEST(Nested, Submodule_AnswersFromItsRecordedCommit) {  // T16, B11
  Repo sub, repo;
  sub.write("x", "a\n");
  sub.commit_all();
  repo.write("top", "top\n");
  repo.git({"submodule", "add", "-q", sub.path(), "deep/m"});
  repo.commit_all();
  run_git(repo / "deep/m", {"commit", "-q", "--allow-empty", "-m", "ahead of what is recorded"});
  Pinned pinned(repo.path());
  repo.write("deep/m/x", "b\n");
  repo.write("deep/m/new", "n\n");
  EXPECT_EQ(pinned.before("deep/m/x"), "a\n");
  EXPECT_EQ(pinned.before("top"), "top\n");
  const std::string patch = pinned.get("deep/m/x", Which::diff).bytes;
  EXPECT_EQ(patch.find("diff --git a/deep/m/x b/deep/m/x\n"), 0u) << patch;
  EXPECT_NE(patch.find("\n-a\n+b\n"), std::string::npos);
  EXPECT_EQ(pinned.get("deep/m/new").state, PieceState::absent);
  fs::remove_all(repo / ".git");
  EXPECT_EQ(pinned.before("deep/m/x"), "a\n");
  EXPECT_EQ(pinned.copied().word, PinWord::copied);
  EXPECT_EQ(pinned.before("deep/m/x"), "a\n");
}

TEST(Nested, IndependentRepositories_AnswerFromTheirHead) {  // T16, B2
  for (bool inside_git : {true, false}) {
    Repo repo;
    if (inside_git)
      fill(repo);
    else
      fs::remove_all(repo / ".git");
    for (const char* name : {"own/one", "own/one/two"}) {
      ASSERT_EQ(run_git("/", {"init", "-q", repo / name}).code, 0);
      repo.write(std::string(name) + "/f", std::string(name) + "\n");
      ASSERT_EQ(run_git(repo / name, {"add", "f"}).code, 0);
      ASSERT_EQ(run_git(repo / name, {"commit", "-qm", "c"}).code, 0);
    }
    repo.write("own/one/f", "dirty\n");
    PinOptions options;
    options.compare = Compare::automatic;
    Pinned pinned(repo.path(), options);
    ASSERT_EQ(pinned.pin->baseline().nested.size(), 2u);
    fs::remove_all(repo / "own/one/.git");
    fs::remove_all(repo / "own/one/two/.git");
    EXPECT_EQ(pinned.before("own/one/f"), inside_git ? "own/one\n" : "dirty\n");
    EXPECT_EQ(pinned.before("own/one/two/f"), "own/one/two\n");
    EXPECT_EQ(pinned.at_ready("own/one/f", Which::diff).state, PieceState::same);
    const auto again = Baseline::from_json(pinned.pin->baseline().to_json());
    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(again->nested, pinned.pin->baseline().nested);
  }
}

TEST(Nested, PointerThatDoesNotPointBack_IsNoRepository) {  // B9
  Repo repo, foreign;
  fill(repo);
  fill(foreign);
  repo.write("evil/.git", "gitdir: " + foreign.path() + "/.git\n");
  repo.write("evil/packed", "x\n");
  Pinned pinned(repo.path());
  EXPECT_TRUE(pinned.pin->baseline().nested.empty());
  EXPECT_EQ(pinned.get("evil/packed").state, PieceState::absent);
}

TEST(Pin, RootAboveAndLinkedWorktree_StillAnswer) {  // T17, B10
  Repo repo;
  fill(repo);
  repo.write("src/.gitignore", "*.log\n");
  repo.commit_all();
  repo.write("src/a/deep", "dirty\n");
  TempDir other;
  repo.git({"worktree", "add", "-q", other / "wt", "-b", "side"});
  Pinned above(repo / "src/a"), linked(other / "wt");
  EXPECT_EQ(above.copied().word, PinWord::copied);
  fs::remove_all(repo / ".git");
  EXPECT_EQ(above.before("deep"), "deep\n");
  EXPECT_EQ(above.at_ready("deep", Which::diff).state, PieceState::same);
  repo.write("src/a/x.log", "l\n");
  EXPECT_EQ(above.get("x.log", Which::diff).state, PieceState::ignored);
  EXPECT_EQ(linked.before("src/a/deep"), "deep\n");
}

TEST(Pin, BloblessClone_OneFaultForAMissingBlob) {  // B19
  Repo upstream, repo;
  fill(upstream);
  upstream.git({"config", "uploadpack.allowFilter", "true"});
  fs::remove_all(repo.path());
  ASSERT_EQ(run_git("/", {"clone", "-q", "--filter=blob:none", "--sparse",
                          "file://" + upstream.path(), repo.path()})
                .code,
            0);
  fs::remove_all(upstream.path());
  Pinned pinned(repo.path());
  EXPECT_EQ(pinned.copied().word, PinWord::copied);
  EXPECT_EQ(pinned.before("loose"), "loose\n");
  Logged logged;
  auto content = Content::open(pinned.pin->baseline(), repo.path());
  for (int i = 0; i < 2; i++)
    EXPECT_EQ((*content)->get("src/a/deep", Which::before).state, PieceState::fault);
  EXPECT_EQ(logged.count("errors: "), 1u);
}

}  // namespace
}  // namespace sandglass::git
