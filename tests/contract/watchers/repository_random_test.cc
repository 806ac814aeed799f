// Any changes of a repository's files, git's own among them: the replay is the tree (W5), before()
// is the baseline, after() is the disk, and each diff() makes the one out of the other (B6).
#include <sys/mount.h>

#include <set>

#include "contract/watchers/session_fixture.h"
#include "fuzz/unpatch.h"
#include "git/content.h"
#include "support/command.h"

namespace sandglass::watch::testing {

using git::Piece;
using git::PieceState;
using git::Which;

class RepositoryRandom : public SessionTest, public ::testing::WithParamInterface<int> {
 protected:
  sandglass::testing::Output git(const std::string& arguments) {
    return sandglass::testing::shell(
        "export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null HOME=/nonexistent; git -c "
        "user.name=t -c user.email=t@example.invalid -c safe.directory='*' -c gc.auto=0 " +
            arguments,
        root_);
  }

  void commit_start() {
    ASSERT_EQ(git("init -q -b main").code, 0);
    ASSERT_EQ(git("add -A").code, 0);
    ASSERT_EQ(git("commit -q --allow-empty -m start").code, 0);
    ASSERT_EQ(git("tag start").code, 0);
    baseline_ = replica_->disk();
    std::erase_if(baseline_, [](const auto& one) { return one.second.type == 'o'; });
    auto content = git::Content::open(git::pin_baseline(root_), root_);
    ASSERT_TRUE(content) << content.error().text;
    content_ = std::move(*content);
  }

  // Whether each works depends on what the steps before made; either way is fine.
  void some_git(RandomOps& ops) {
    static const char* const kCommands[] = {"add -A",
                                            "commit -q -a -m more",
                                            "checkout -q -f start",
                                            "checkout -q -f main",
                                            "checkout -q -f -B side start",
                                            "reset -q --hard start",
                                            "stash -q -u",
                                            "stash pop -q",
                                            "gc -q --prune=now",
                                            "clean -q -f -d",
                                            "rm -q -r -f --ignore-unmatch a",
                                            "mv -f b c"};
    git(kCommands[ops.number() % std::size(kCommands)]);
  }

  static Known known_of(const Piece& piece) {
    Known out;
    out.content = piece.bytes;
    out.type = piece.flags & git::piece_symlink ? 'l' : 'f';
    out.exec = piece.flags & git::piece_executable;
    return out;
  }

  static std::string applied(const std::string& path, const std::string& patch,
                             const std::string& from) {
    return fuzz::Unpatch(patch, from).apply(path).value_or("binary");
  }

  void expect_accessors_true(const std::string& path) {
    SCOPED_TRACE(shown(path));
    const auto was = baseline_.find(path);
    const Known_map disk = replica_->disk();
    auto is = disk.find(path);
    if (is != disk.end() && is->second.type == 'o') is = disk.end();
    const Piece before = content_->get(path, Which::before);
    const Piece after = content_->get(path, Which::after);
    const Piece diff = content_->get(path, Which::diff);
    ASSERT_EQ(before.state, was == baseline_.end() ? PieceState::absent : PieceState::here);
    ASSERT_EQ(after.state, is == disk.end() ? PieceState::absent : PieceState::here);
    const Known* then = was == baseline_.end() ? nullptr : &was->second;
    const Known* now = is == disk.end() ? nullptr : &is->second;
    EXPECT_TRUE(!then || known_of(before) == *then);
    EXPECT_TRUE(!now || known_of(after) == *now);
    const bool same = then && now && *then == *now;
    ASSERT_EQ(diff.state, !then && !now ? PieceState::absent
                          : same        ? PieceState::same
                                        : PieceState::here);
    if (diff.state == PieceState::here) expect_makes(path, diff.bytes, then, now);
  }

  static void expect_makes(const std::string& path, std::string patch, const Known* was,
                           const Known* is) {
    if (was && is && was->type != is->type) {  // two patches in one
      const size_t second = patch.find("\ndiff --git ", 1);
      ASSERT_NE(second, std::string::npos) << patch;
      expect_makes(path, patch.substr(0, second + 1), was, nullptr);
      patch.erase(0, second + 1);
      was = nullptr;
    }
    const std::string from = was ? was->content : "", to = is ? is->content : "";
    if (patch.find("\nBinary files ") != std::string::npos) {
      EXPECT_TRUE(from.find('\0') != std::string::npos || to.find('\0') != std::string::npos);
      return;
    }
    EXPECT_EQ(applied(path, patch, from), to) << patch;
    const bool exec_differs = was && is && was->exec != is->exec;
    EXPECT_EQ(patch.find("\nnew mode ") != std::string::npos, exec_differs) << patch;
  }

  void take(const std::vector<FileChange>& batch) override {
    SessionTest::take(batch);
    std::lock_guard lock(mutex_);
    for (const FileChange& one : batch)
      if (one.kind != ChangeKind::rescan) touched_.insert(one.path);
  }

  void expect_true_now(RandomOps& ops) {
    ASSERT_TRUE(ops.linked() ? session_->audit(kLongMs) : session_->flush(kLongMs));
    ASSERT_EQ(replica_->difference(), "");
    std::set<std::string> touched;
    {
      std::lock_guard lock(mutex_);
      touched.swap(touched_);
    }
    for (const std::string& path : touched) expect_accessors_true(path);
  }

  void run(uint64_t seed, int steps) {
    SCOPED_TRACE("SANDGLASS_SEED=" + std::to_string(seed - static_cast<uint64_t>(GetParam())));
    RandomOps ops(root_, seed);
    std::vector<Told> unused;
    for (int i = 0; i < 60; ++i) ops.step(unused);
    ops.close_all(unused);
    start();
    ASSERT_NO_FATAL_FAILURE(commit_start());
    for (int i = 0; i < steps; ++i) {
      ops.step(unused);
      if (ops.number() % 60 == 0) some_git(ops);
      if (ops.number() % 80) continue;
      ops.close_all(unused);
      ASSERT_NO_FATAL_FAILURE(expect_true_now(ops)) << "after step " << i;
      if (HasFailure()) return;
    }
    ops.close_all(unused);
    expect_true_now(ops);
    replica_->take_log();
    ASSERT_TRUE(session_->audit(kLongMs));
    EXPECT_EQ(replica_->take_log(), Lines{});
  }

  Known_map baseline_;
  std::unique_ptr<git::Content> content_;
  std::mutex mutex_;
  std::set<std::string> touched_;
};

TEST_P(RepositoryRandom, AnyChanges_ReplayAndAccessorsAreTrue) {  // W5, B1, B4, B6, T1-T14
  run(seed_of_the_day() + static_cast<uint64_t>(GetParam()), number_of_ops(1000));
}

// Where a time stamp moves once a tick (ramfs), a write right after a look shows in no stat.
class CoarseTimes : public RepositoryRandom {
 protected:
  void SetUp() override {
    if (::mount("ramfs", root_.c_str(), "ramfs", 0, nullptr) < 0)
      GTEST_SKIP() << "a ramfs cannot be mounted here: " << std::strerror(errno);
    mounted_ = true;
    RepositoryRandom::SetUp();
  }
  void TearDown() override {
    RepositoryRandom::TearDown();
    session_.reset();
    content_.reset();
    EXPECT_TRUE(!mounted_ || ::umount(root_.c_str()) == 0) << std::strerror(errno);
  }
  bool mounted_ = false;
};

TEST_P(CoarseTimes, AnyChanges_ReplayAndAccessorsAreTrue) {  // W6a
  run(seed_of_the_day() + static_cast<uint64_t>(GetParam()), number_of_ops(1000));
}

INSTANTIATE_TEST_SUITE_P(Seeds, RepositoryRandom, ::testing::Range(0, 4));
INSTANTIATE_TEST_SUITE_P(Seeds, CoarseTimes, ::testing::Range(0, 4));

}  // namespace sandglass::watch::testing
