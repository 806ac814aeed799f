// A judge over a directory of its own, told by hand what a watcher would tell.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "support/temp_dir.h"
#include "unit/watch/random_ops.h"
#include "unit/watch/replica.h"
#include "watch/judge.h"

namespace sandglass::watch::testing {

constexpr uint32_t kBorn = SG_HINTF_BORN, kGone = SG_HINTF_GONE, kData = SG_HINTF_DATA,
                   kMeta = SG_HINTF_META, kClosed = SG_HINTF_CLOSED;
constexpr uint32_t kSaved = kBorn | kData | kClosed;

using Lines = std::vector<std::string>;

class JudgeTest : public ::testing::Test {
 protected:
  // The tree as it is now is what the consumer knows.
  void begin() {
    judge_ = std::make_unique<Judge>(dir_.path(), Lines{".git", "node_modules"});
    ASSERT_TRUE(judge_->begin());
    replica_ = std::make_unique<Replica>(dir_.path());
  }
  void TearDown() override {
    if (!replica_) return;
    tell({}, true);
    EXPECT_EQ(replica_->difference(), "");
  }

  // One batch of hints; what comes of it, as Replica::take_log() writes it.
  Lines tell(const std::vector<Told>& told, bool release = false) {
    std::vector<Hint> hints;
    for (const Told& one : told) hints.push_back({one.kind, one.flags, 0, mono_ns(), one.path});
    replica_->apply(judge_->hints(hints));
    if (release) replica_->apply(judge_->release(kNever, true));
    return replica_->take_log();
  }
  Lines entry(uint32_t flags, const std::string& path) {
    return tell({{SG_HINT_ENTRY, flags, path}});
  }
  Lines tree(uint32_t flags, const std::string& path) {
    return tell({{SG_HINT_TREE, flags, path}});
  }
  Lines release() { return tell({}, true); }
  Lines audit() {
    replica_->apply(judge_->compare("", true));
    return replica_->take_log();
  }

  Lines missed() {
    replica_->apply(judge_->compare("", false));
    return replica_->take_log();
  }

  std::string at(const std::string& path) const { return dir_ / path; }
  void rename(const std::string& from, const std::string& to, unsigned flags = 0) {
    ASSERT_EQ(::syscall(SYS_renameat2, AT_FDCWD, at(from).c_str(), AT_FDCWD, at(to).c_str(), flags),
              0);
  }
  void unlink(const std::string& path) { ASSERT_EQ(::unlink(at(path).c_str()), 0); }
  void mkdir(const std::string& path) { ASSERT_EQ(::mkdir(at(path).c_str(), 0755), 0); }
  void rmdir(const std::string& path) { ASSERT_EQ(::rmdir(at(path).c_str()), 0); }
  void set_times(const std::string& path, long seconds) {
    const timespec times[2] = {{seconds, 0}, {seconds, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, at(path).c_str(), times, 0), 0);
  }

  sandglass::testing::TempDir dir_;
  std::unique_ptr<Judge> judge_;
  std::unique_ptr<Replica> replica_;
};

}  // namespace sandglass::watch::testing
