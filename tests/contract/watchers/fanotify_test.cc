// What only fanotify can do: one group for many sandboxes, whole file systems, and who wrote.
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/clock.h"
#include "contract/watchers/session_fixture.h"

namespace sandglass::watch::testing {
namespace {

class Fanotify : public SessionTest {
 protected:
  void take(const std::vector<FileChange>& batch) override {
    {
      std::lock_guard lock(mutex_);
      for (const FileChange& change : batch) writers_[change.path] = change.writers;
    }
    replica_->apply(batch);
  }
  Writers writers_of(const std::string& path) {
    std::lock_guard lock(mutex_);
    return writers_[path];
  }
  // A child that does it and ends.
  template <class F>
  pid_t child(F&& body) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      body();
      ::_exit(0);
    }
    EXPECT_EQ(::waitpid(pid, nullptr, 0), pid);
    return pid;
  }
  static void write_plainly(const std::string& path) {
    const int fd = ::open(path.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0644);
    [[maybe_unused]] const ssize_t n = ::write(fd, "x", 1);
    ::close(fd);
  }
  // A second sandbox, with a watcher instance of its own.
  struct Other {
    std::unique_ptr<Replica> replica;
    std::unique_ptr<Session> session;
  };
  Other other(const std::string& name) {
    Other out;
    out.replica = std::make_unique<Replica>(dir_ / name);
    Target target;
    target.sandbox_id = name;
    target.local_root = dir_ / name;
    Replica* replica = out.replica.get();
    auto session = Session::start(
        make_watcher(), target, [replica](std::vector<FileChange> batch) { replica->apply(batch); },
        kLongMs);
    EXPECT_TRUE(session) << session.error().text;
    if (session) out.session = std::move(*session);
    return out;
  }
  nlohmann::json state() { return nlohmann::json::parse(session_->state_json()); }
  std::mutex mutex_;
  std::map<std::string, Writers> writers_;
};

TEST_F(Fanotify, SandboxesOfOneFileSystem_ShareTheGroup) {
  ::mkdir((dir_ / "second").c_str(), 0755);
  start();
  Other second = other("second");
  ASSERT_TRUE(second.session);
  EXPECT_EQ(nlohmann::json::parse(second.session->state_json())["sandboxes"], 2);
  for (int i = 0; i < 200; ++i) {
    write("a/f" + std::to_string(i), "1");
    dir_.write("second/b/g" + std::to_string(i), "2");
  }
  EXPECT_EQ(flushed().size(), 200u);
  ASSERT_TRUE(second.session->flush(kLongMs));
  EXPECT_EQ(second.replica->take_log().size() >= 200, true);
  EXPECT_EQ(second.replica->difference(), "");
  // The first may go, the second goes on.
  ASSERT_TRUE(session_->stop(kLongMs));
  session_.reset();
  dir_.write("second/b/later", "3");
  ASSERT_TRUE(second.session->flush(kLongMs));
  EXPECT_EQ(second.replica->take_log(), Lines{"create b/later"});
  ASSERT_TRUE(second.session->stop(kLongMs));
}

TEST_F(Fanotify, SandboxInsideAnother_BothAreTold) {
  mkdir("in");
  start();
  Other inner = other("root/in");
  ASSERT_TRUE(inner.session);
  write("in/d/f", "1");
  rename("in/d", "in/e");
  flushed();
  ASSERT_TRUE(inner.session->flush(kLongMs));
  EXPECT_EQ(replica_->difference(), "");
  EXPECT_EQ(inner.replica->difference(), "");
  rename("in/e", "out");
  EXPECT_EQ(sorted(), (Lines{"create out/f", "delete in/e/f"}));
  ASSERT_TRUE(inner.session->flush(kLongMs));
  EXPECT_EQ(inner.replica->difference(), "");
  ASSERT_TRUE(inner.session->stop(kLongMs));
}

TEST_F(Fanotify, NeighboursStorm_IsNotOurs) {
  start();
  std::atomic<bool> over{false};
  std::thread storm([&] {
    for (int i = 0; !over; ++i) {
      const std::string d = dir_ / "neighbour" + std::to_string(i % 50);
      std::filesystem::create_directories(d + "/deep/er");
      for (int k = 0; k < 20; ++k) write_plainly(d + "/deep/er/" + std::to_string(k));
      std::filesystem::remove_all(d);
    }
  });
  for (int i = 0; i < 100; ++i) {
    write("d" + std::to_string(i) + "/f", "x");
    EXPECT_EQ(flushed(), Lines{"create d" + std::to_string(i) + "/f"});
  }
  over = true;
  storm.join();
  EXPECT_EQ(state()["rescans"], 0);
}

TEST_F(Fanotify, MovedBetweenSandboxes_IsDeletedHereAndCreatedThere) {
  ::mkdir((dir_ / "second").c_str(), 0755);
  write("d/s/f", "1");
  start();
  Other second = other("second");
  ASSERT_TRUE(second.session);
  ASSERT_EQ(::rename(at("d").c_str(), (dir_ / "second/e").c_str()), 0);
  EXPECT_EQ(flushed(), Lines{"delete d/s/f"});
  ASSERT_TRUE(second.session->flush(kLongMs));
  EXPECT_EQ(second.replica->take_log(), Lines{"create e/s/f"});
  dir_.write("second/e/s/g", "2");
  ASSERT_TRUE(second.session->flush(kLongMs));
  EXPECT_EQ(second.replica->take_log(), Lines{"create e/s/g"});
  ASSERT_TRUE(second.session->stop(kLongMs));
}

// The kernel merges like events; a name that came and went is looked at.
TEST_F(Fanotify, DirectoryRenamedToAndFro_IsWhereItIs) {
  write("a/x", "1");
  start();
  for (int i = 0; i < 101; ++i) {
    rename("a", "b");
    if (i < 100) rename("b", "a");
  }
  flushed();
  EXPECT_EQ(replica_->difference(), "");
  write("b/later", "2");
  EXPECT_EQ(flushed(), Lines{"create b/later"});
}

// What could not be read for want of descriptors is read as soon as there are some.
TEST_F(Fanotify, DescriptorsRunOut_TreeIsReadAnew) {  // W5
  for (int i = 0; i < 20; ++i) dir_.write("outside/s" + std::to_string(i) + "/f", "1");
  start();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = 3;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  EXPECT_EQ(::rename((dir_ / "outside").c_str(), at("in").c_str()), 0);
  const int64_t blind_until = mono_ns() + 50'000'000;
  while (mono_ns() < blind_until) ::sched_yield();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  const int64_t deadline = mono_ns() + int64_t{20} * 1'000'000'000;
  while (state()["files"] != 20 && mono_ns() < deadline) ::usleep(2'000);
  while (mono_ns() < deadline) {  // the watcher's own tree, which tells of the directories
    write("in/s7/g", std::to_string(mono_ns()));
    if (!flushed().empty()) break;
  }
  flushed();
  EXPECT_EQ(replica_->difference(), "");
}

TEST_F(Fanotify, WithoutRights_SaysWhatIsMissing) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (::unshare(CLONE_NEWUSER) != 0) ::_exit(77);
    const std::string why = unwatchable(root_);
    ::_exit(why.find("needs CAP_SYS_ADMIN in the first user namespace") == std::string::npos);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "a user namespace is not permitted here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// ---- Other file systems ------------------------------------------------------

class Mounted : public Fanotify {
 protected:
  void TearDown() override {
    Fanotify::TearDown();
    session_.reset();
    for (const std::string& one : mounts_) EXPECT_EQ(::umount2(one.c_str(), MNT_DETACH), 0);
  }
  bool mount_tmpfs(const std::string& path) {
    if (::mount("sandglass", path.c_str(), "tmpfs", 0, "size=64m") != 0) return false;
    mounts_.push_back(path);
    return true;
  }
  std::vector<std::string> mounts_;
};

TEST_F(Mounted, RootOnATmpfs) {
  if (!mount_tmpfs(root_)) GTEST_SKIP() << "mounting is not permitted here";
  start();
  write("a/b/f", "1");
  EXPECT_EQ(flushed(), Lines{"create a/b/f"});
  rename("a", "c");
  EXPECT_EQ(sorted(), (Lines{"create c/b/f", "delete a/b/f"}));
}

TEST_F(Mounted, FileSystemBelowTheRoot_IsWatchedToo) {
  mkdir("m");
  if (!mount_tmpfs(at("m"))) GTEST_SKIP() << "mounting is not permitted here";
  start();
  write("m/d/f", "1");
  EXPECT_EQ(flushed(), Lines{"create m/d/f"});
  write("plain", "1");
  EXPECT_EQ(flushed(), Lines{"create plain"});
}

TEST_F(Mounted, Overlay_SaysTheCure) {
  for (const char* part : {"lower", "upper", "work", "merged"})
    ::mkdir((dir_ / part).c_str(), 0755);
  const std::string options = "lowerdir=" + (dir_ / "lower") + ",upperdir=" + (dir_ / "upper") +
                              ",workdir=" + (dir_ / "work");
  const std::string merged = dir_ / "merged";
  if (::mount("overlay", merged.c_str(), "overlay", 0, options.c_str()) != 0)
    GTEST_SKIP() << "no overlay can be mounted here";
  mounts_.push_back(merged);
  EXPECT_NE(unwatchable(merged).find("index=on,nfs_export=on"), std::string::npos)
      << unwatchable(merged);
}

// ---- Who wrote ----------------------------------------------------------------

TEST_F(Fanotify, Writers_AreTold) {  // W11
  write("mine", "old");
  start();
  const std::string path = at("mine");
  const pid_t writer = child([&] { write_plainly(path); });
  flushed();
  EXPECT_EQ(writers_of("mine").count, 1);
  EXPECT_EQ(writers_of("mine").last(), writer);
  const pid_t remover = child([&] { ::unlink(path.c_str()); });
  flushed();
  EXPECT_EQ(writers_of("mine").last(), remover);
}

TEST_F(Fanotify, FilesOfANewDirectory_HaveTheirOwnWriters) {  // W11
  start();
  int known = 0;
  for (int i = 0; i < 50; ++i) {
    const std::string name = "d" + std::to_string(i), d = at(name);
    child([&] { ::mkdir(d.c_str(), 0755); });
    const pid_t one = child([&] { write_plainly(d + "/one"); });
    const pid_t two = child([&] { write_plainly(d + "/two"); });
    flushed();
    for (const auto& [file, pid] : {std::pair("/one", one), std::pair("/two", two)}) {
      const Writers told = writers_of(name + file);
      ASSERT_LE(told.count, 1) << i;
      if (told.empty()) continue;  // its hint came too late to be waited for: nobody, not another
      EXPECT_EQ(told.last(), pid) << i;
      ++known;
    }
  }
  EXPECT_GT(known, 50);
}

TEST_F(Fanotify, MovedIn_IsOfTheMover) {
  dir_.write("outside/s/f", "1");
  start();
  const std::string from = dir_ / "outside", to = at("in");
  const pid_t mover = child([&] { ::rename(from.c_str(), to.c_str()); });
  EXPECT_EQ(flushed(), Lines{"create in/s/f"});
  EXPECT_EQ(writers_of("in/s/f").last(), mover);
}

}  // namespace
}  // namespace sandglass::watch::testing
