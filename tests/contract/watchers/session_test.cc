// A watcher and the session over it, in a real directory.
#include <sys/mman.h>

#include <condition_variable>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "contract/watchers/session_fixture.h"
#include "support/logged.h"

namespace sandglass::watch::testing {

TEST_F(SessionTest, Canary_IsNeverReported) {  // W2
  start();
  EXPECT_EQ(flushed(), Lines{});
  EXPECT_TRUE(std::filesystem::is_empty(root_));
}

TEST_F(SessionTest, StartAndStop_AreLinesOfTheSandboxCategory) {  // G1
  const sandglass::testing::Logged logged;
  const std::string name = make_watcher(services())->name();
  start();
  EXPECT_EQ(logged.count("sandbox: s: watcher " + name + " started on " + root_ + "\n"), 1u);
  EXPECT_TRUE(session_->stop(kLongMs));
  EXPECT_EQ(logged.count("sandbox: s: watcher " + name + " stopped\n"), 1u);
  session_.reset();
}

TEST_F(SessionTest, DeepDirectoriesInOneBreath_EachFileOnce) {  // A1, J3, J4
  start();
  for (int i = 0; i < 200; ++i) {
    const std::string top = "a" + std::to_string(i);
    write(top + "/b/c/f", "1");
    write(top + "/b/g", "2");
  }
  EXPECT_TRUE(session_->flush(kLongMs));
  EXPECT_EQ(replica_->difference(), "");
  replica_->take_log();
  write("a7/b/c/later", "3");
  EXPECT_EQ(flushed(), Lines{"create a7/b/c/later"});
}

// Each directory has a hint of its own: walking all below from every one of them took minutes.
TEST_F(SessionTest, ChainOfDirectories_IsWalkedOnce) {  // J3, J4
  start();
  const int64_t began = mono_ns();
  for (const char* top : {"a", "b"}) {
    std::string path = top;
    for (int i = 0; i < 900; ++i) path += "/d";
    std::filesystem::create_directories(at(path));
    write(path + "/f", "1");
  }
  EXPECT_TRUE(session_->flush(kLongMs));
  EXPECT_EQ(replica_->difference(), "");
  rename("b", "a/b");
  write("after", "2");
  EXPECT_TRUE(session_->flush(kLongMs));
  EXPECT_EQ(replica_->difference(), "");
  EXPECT_LT(mono_ns() - began, int64_t{kLongMs} * 1'000'000);
}

TEST_F(SessionTest, NewDirectoryAndRenameInIt_LeavesNothingOfTheTemporary) {  // J1
  start();
  for (int i = 0; i < 300; ++i) {
    const std::string d = "d" + std::to_string(i);
    mkdir(d);
    write(d + "/.t", "x");
    rename(d + "/.t", d + "/f");
  }
  EXPECT_TRUE(session_->flush(kLongMs));
  EXPECT_EQ(replica_->difference(), "");
}

TEST_F(SessionTest, DirectoryRemovedAndMadeAgain_ManyTimes) {  // A9, J2, J13
  start();
  for (int i = 0; i < 300; ++i) {
    std::filesystem::remove_all(at("t"));
    mkdir("t");
    write("t/task.yaml", std::to_string(i));
  }
  EXPECT_TRUE(session_->flush(kLongMs));
  EXPECT_EQ(replica_->difference(), "");
  replica_->take_log();
  write("t/later", "x");
  EXPECT_EQ(flushed(), Lines{"create t/later"});
}

TEST_F(SessionTest, DirectoryRenamedThenWritten_UsesTheNewName) {  // J9, J10
  write("n1/old", "1");
  start();
  rename("n1", "n2");
  write("n2/t", "2");
  Lines lines = sorted();
  std::erase(lines, "change n2/t");  // where it was met while it was being written
  EXPECT_EQ(lines, (Lines{"create n2/old", "create n2/t", "delete n1/old"}));
  rename("n2", "n3");
  rename("n3", "n1");
  write("n1/t", "3");
  EXPECT_TRUE(session_->flush(kLongMs));
  EXPECT_EQ(replica_->difference(), "");
  replica_->take_log();
  std::filesystem::remove_all(at("n1"));
  EXPECT_EQ(sorted(), (Lines{"delete n1/old", "delete n1/t"}));
}

TEST_F(SessionTest, DirectoriesExchanged_WatchesFollow) {
  write("a/x", "1");
  write("b/s/y", "2");
  start();
  rename("a", "b", RENAME_EXCHANGE);
  flushed();
  EXPECT_EQ(replica_->difference(), "");
  write("a/s/new", "3");
  write("b/new", "4");
  EXPECT_EQ(sorted(), (Lines{"create a/s/new", "create b/new"}));
}

TEST_F(SessionTest, MovedOut_IsNotWatchedAnyMore) {
  write("d/x", "1");
  start();
  const std::string outside = dir_ / "outside";
  ASSERT_EQ(::rename(at("d").c_str(), outside.c_str()), 0);
  EXPECT_EQ(flushed(), Lines{"delete d/x"});
  dir_.write("outside/y", "2");
  EXPECT_EQ(flushed(), Lines{});
  ASSERT_EQ(::rename(outside.c_str(), at("back").c_str()), 0);
  EXPECT_EQ(sorted(), (Lines{"create back/x", "create back/y"}));
  write("back/z", "3");
  EXPECT_EQ(flushed(), Lines{"create back/z"});
}

TEST_F(SessionTest, Reading_IsNeverAnEvent) {  // A8, C6
  write("d/f", "1");
  start();
  replica_->disk();
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root_))
    EXPECT_TRUE(entry.exists());
  EXPECT_EQ(flushed(), Lines{});
}

TEST_F(SessionTest, SaveThroughAnEditor_IsOneChange) {  // A5, J21, J22
  write("f", "old");
  start();
  for (int i = 0; i < 20; ++i) {
    write("f", "text " + std::to_string(i));
    EXPECT_EQ(flushed(), Lines{"change f"});
    write("f.tmp", "atomic " + std::to_string(i));
    rename("f.tmp", "f");
    Lines lines = flushed();
    std::erase(lines, "create f.tmp");
    std::erase(lines, "delete f.tmp");
    EXPECT_EQ(lines, Lines{"change f"});
  }
}

TEST_F(SessionTest, MetaChanges) {  // W6, B16
  if (kUnderTest.polls) GTEST_SKIP() << "a look cannot tell a touch from a write of the same size";
  write("f", "x");
  start();
  ASSERT_EQ(::chmod(at("f").c_str(), 0755), 0);
  EXPECT_EQ(flushed(), Lines{"change* f"});
  ASSERT_EQ(::utimensat(AT_FDCWD, at("f").c_str(), nullptr, 0), 0);
  EXPECT_EQ(flushed(), Lines{});
  const int fd = ::open(at("f").c_str(), O_WRONLY | O_CLOEXEC);  // as touch(1) does it
  ASSERT_EQ(::futimens(fd, nullptr), 0);
  ::close(fd);
  EXPECT_EQ(flushed(), Lines{});
  const timespec times[2] = {{5, 0}, {5, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, at("f").c_str(), times, 0), 0);
  EXPECT_EQ(flushed(), Lines{"change* f"});
}

TEST_F(SessionTest, HardLinkAndMapping_AreFound) {  // A12, rule 17
  write("a", std::string(4096, 'o'));
  ASSERT_EQ(::link(at("a").c_str(), at("b").c_str()), 0);
  start();
  int fd = ::open(at("b").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::pwrite(fd, "w", 1, 0), 1);
  ::close(fd);
  EXPECT_EQ(sorted(), (Lines{"change a", "change b"}));
  fd = ::open(at("a").c_str(), O_RDWR | O_CLOEXEC);
  char* bytes =
      static_cast<char*>(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  ::close(fd);
  flushed();
  bytes[1] = 'm';
  ::msync(bytes, 4096, MS_SYNC);
  ::munmap(bytes, 4096);
  ASSERT_TRUE(session_->audit(kLongMs));
  EXPECT_EQ(replica_->difference(), "");
}

TEST_F(SessionTest, WriteThroughARemovedName_IsFoundByTheAudit) {  // rule 17
  if (kUnderTest.polls)
    GTEST_SKIP() << "a look cannot tell a lost hard link from a write whose time was reset";
  write("a", "1");
  ASSERT_EQ(::link(at("a").c_str(), at("b").c_str()), 0);
  start();
  const int fd = ::open(at("b").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  ASSERT_EQ(::unlink(at("b").c_str()), 0);
  EXPECT_EQ(flushed(), Lines{"delete b"});
  ASSERT_EQ(::write(fd, "2", 1), 1);
  ::close(fd);
  flushed();
  ASSERT_TRUE(session_->audit(kLongMs));
  EXPECT_EQ(replica_->difference(), "");
}

TEST_F(SessionTest, IgnoredDirectories_CostNothing) {  // D4, J17
  write("node_modules/a/b/c", "x");
  write(".git/objects/x", "x");
  write("src/f", "x");
  start();
  const auto state = nlohmann::json::parse(session_->state_json());
  if (!kUnderTest.polls) {
    EXPECT_EQ(state["watches"], 2);  // the root and src
  }
  EXPECT_EQ(state["files"], 1);
  write("node_modules/new/x", "x");
  write("src/node_modules/x", "x");
  write("src/my_node_modules/x", "x");
  write("src/.gitignore", "x");
  EXPECT_EQ(sorted(), (Lines{"create src/.gitignore", "create src/my_node_modules/x"}));
}

TEST_F(SessionTest, RootGoneAndBack) {  // rule 13
  write("a/x", "1");
  start();
  std::filesystem::remove_all(root_);
  EXPECT_EQ(flushed(), Lines{"delete a/x"});
  EXPECT_EQ(mode(), "gone");
  write("reborn", "2");
  EXPECT_EQ(flushed(), Lines{"create reborn"});
  write("sub/later", "3");
  EXPECT_EQ(flushed(), Lines{"create sub/later"});
  ASSERT_EQ(::rename(root_.c_str(), (dir_ / "away").c_str()), 0);
  EXPECT_EQ(sorted(), (Lines{"delete reborn", "delete sub/later"}));
  ASSERT_EQ(::rename((dir_ / "away").c_str(), root_.c_str()), 0);
  EXPECT_EQ(sorted(), (Lines{"create reborn", "create sub/later"}));
}

TEST_F(SessionTest, Stop_DeliversWhatWasWritten_NothingAfter) {  // W8
  start();
  const int fd = ::open(at("open").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
  ASSERT_EQ(::write(fd, "x", 1), 1);
  for (int i = 0; i < 500; ++i) write("f" + std::to_string(i), "x");
  ASSERT_TRUE(session_->stop(kLongMs));
  Lines lines = replica_->take_log();
  std::erase_if(lines, [](const std::string& line) { return line.starts_with("change"); });
  EXPECT_EQ(lines.size(), 501u);  // a writer slower than a hold makes a change besides
  EXPECT_EQ(replica_->difference(), "");
  write("after", "x");
  ::close(fd);
  EXPECT_EQ(replica_->take_log(), Lines{});
  std::filesystem::remove(at("after"));
}

TEST_F(SessionTest, RootThatIsNotThere_SaysWhy) {
  Target target = this->target();
  target.local_root = dir_ / "missing";
  plugin::HostServices services;
  services.exec = plugin::exec_in(target.local_root);
  auto session = Session::start(
      make_watcher(services), target, [](std::vector<FileChange>) {}, kLongMs);
  ASSERT_FALSE(session);
  EXPECT_NE(session.error().text.find("missing"), std::string::npos) << session.error().text;
}

TEST_F(SessionTest, TwoSandboxesOnOneWatcher) {
  mkdir("one");
  mkdir("two");
  auto watcher = make_watcher(services());
  Replica replica_one(at("one")), replica_two(at("two"));
  auto begin = [&](const std::string& name, Replica& replica) {
    Target target = this->target();
    target.sandbox_id = name;
    target.local_root = at(name);
    return Session::start(
        watcher, target, [&](std::vector<FileChange> batch) { replica.apply(batch); }, kLongMs);
  };
  auto one = begin("one", replica_one), two = begin("two", replica_two);
  ASSERT_TRUE(one && two);
  EXPECT_FALSE(begin("one", replica_one));  // W3
  write("one/f", "1");
  write("two/g", "2");
  ASSERT_TRUE((*one)->flush(kLongMs));
  ASSERT_TRUE((*two)->flush(kLongMs));
  EXPECT_EQ(replica_one.take_log(), Lines{"create f"});
  EXPECT_EQ(replica_two.take_log(), Lines{"create g"});
}

// The reader is held in the sink until more has happened than the kernel's queue takes.
class OverflowTest : public SessionTest {
 protected:
  void take(const std::vector<FileChange>& batch) override {
    replica_->apply(batch);
    std::unique_lock lock(mutex_);
    held_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return go_; });
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  bool held_ = false;
  bool go_ = false;
};

TEST_F(OverflowTest, QueueOverflow_RescansAndIsExact) {  // W5
  if (kUnderTest.polls) GTEST_SKIP() << "a poll has no queue that could overflow";
  for (int i = 0; i < 50; ++i) write("old/d" + std::to_string(i) + "/f", "1");
  start();
  write("first", "x");
  {
    std::unique_lock lock(mutex_);
    ASSERT_TRUE(changed_.wait_for(lock, std::chrono::seconds(30), [&] { return held_; }));
  }
  for (int i = 0; i < 9000; ++i) write("f" + std::to_string(i), "x");  // three events each
  rename("old", "new");
  for (int i = 0; i < 20; ++i) std::filesystem::remove_all(at("new/d" + std::to_string(i)));
  {
    std::lock_guard lock(mutex_);
    go_ = true;
  }
  changed_.notify_all();
  ASSERT_TRUE(session_->flush(kLongMs));
  EXPECT_EQ(replica_->difference(), "");
  const Lines log = replica_->take_log();
  EXPECT_EQ(std::count(log.begin(), log.end(), "rescan"), kUnderTest.loses_nothing ? 0 : 1);
  write("new/d30/later", "x");
  mkdir("new/d31/sub");
  write("new/d31/sub/later", "x");
  EXPECT_EQ(sorted(), (Lines{"create new/d30/later", "create new/d31/sub/later"}));
}

}  // namespace sandglass::watch::testing
