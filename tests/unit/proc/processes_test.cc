// The process table, fed by the kernel (design rule 22): short-lived processes are known.
#include "proc/processes.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>
#include <vector>

#include "base/clock.h"

namespace sandglass::proc {
namespace {

using Source = Processes::Source;

class ProcessTable : public ::testing::TestWithParam<Source> {
 protected:
  void SetUp() override {
    auto opened = Processes::open(GetParam());
    if (!opened) GTEST_SKIP() << opened.error().text;
    table_ = std::move(*opened);
  }
  bool follows() const { return GetParam() != Source::proc; }

  template <class F>
  static pid_t child(F&& body) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      body();
      ::_exit(0);
    }
    return pid;
  }
  static void reap(pid_t pid) { ASSERT_EQ(::waitpid(pid, nullptr, 0), pid); }

  std::shared_ptr<Processes> table_;
};

TEST_P(ProcessTable, ThisProcess_IsTheHost) {
  const auto self = table_->find(::getpid(), 0);
  ASSERT_TRUE(self);
  EXPECT_EQ(self->label, Processes::kHost);
  EXPECT_EQ(self->ppid, ::getppid());
  EXPECT_NE(self->command.find("proc_test"), std::string::npos) << self->command;
  const auto parent = table_->find(::getppid(), 0);
  ASSERT_TRUE(parent);
  EXPECT_EQ(parent->label, 0u);
}

TEST_P(ProcessTable, ShortLivedForks_AllKnown) {  // W11
  if (!follows()) GTEST_SKIP() << "without a source only what still runs is known";
  const uint32_t label = table_->new_label();
  table_->mark(::getpid(), label);
  std::set<pid_t> pids;
  const int64_t before = mono_ns();
  for (int i = 0; i < 500; ++i) {
    const pid_t pid = child([] {});
    reap(pid);
    pids.insert(pid);
  }
  const auto self = table_->find(::getpid(), 0);
  for (const pid_t pid : pids) {
    const auto found = table_->find(pid, 0);
    ASSERT_TRUE(found) << pid;
    EXPECT_EQ(found->ppid, ::getpid());
    EXPECT_EQ(found->label, label);
    EXPECT_EQ(found->command, self->command);
    EXPECT_GT(found->start_ns, before);
    EXPECT_GE(found->exit_ns, found->start_ns);
  }
}

TEST_P(ProcessTable, ShortLivedExecs_HaveTheirCommand) {
  if (!follows()) GTEST_SKIP() << "without a source only what still runs is known";
  std::vector<pid_t> pids;
  for (int i = 0; i < 2000; ++i) {
    const std::string word = "w" + std::to_string(i);
    const char* argv[] = {"true", word.c_str(), "end", nullptr};
    pid_t pid = 0;
    ASSERT_EQ(::posix_spawn(&pid, "/bin/true", nullptr, nullptr, const_cast<char**>(argv), environ),
              0);
    reap(pid);
    pids.push_back(pid);
  }
  int known = 0, with_command = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto found = table_->find(pids[static_cast<size_t>(i)], 0);
    known += found.has_value();
    with_command += found && found->command == "true w" + std::to_string(i) + " end";
  }
  EXPECT_EQ(known, 2000);
  std::printf("%s: %d of 2000 with their command\n", table_->reason().c_str(), with_command);
  if (GetParam() == Source::bpf) {
    EXPECT_EQ(with_command, 2000);
  }
}

// A command that detaches is still its run's (W11).
TEST_P(ProcessTable, Label_FollowsAllThatIsStarted) {
  int in[2], out[2];
  ASSERT_EQ(::pipe2(in, O_CLOEXEC), 0);
  ASSERT_EQ(::pipe2(out, O_CLOEXEC), 0);
  const pid_t top = child([&] {
    char c;
    [[maybe_unused]] ssize_t n = ::read(in[0], &c, 1);
    if (::fork() == 0) {
      ::setsid();
      const pid_t self = ::getpid();
      n = ::write(out[1], &self, sizeof self);
      n = ::read(in[0], &c, 1);
      ::_exit(0);
    }
    n = ::read(in[0], &c, 1);
  });
  const uint32_t label = table_->new_label();
  table_->mark(top, label);
  ASSERT_EQ(::write(in[1], "x", 1), 1);
  pid_t below = 0;
  ASSERT_EQ(::read(out[0], &below, sizeof below), static_cast<ssize_t>(sizeof below));
  EXPECT_EQ(table_->find(below, 0)->label, label);
  EXPECT_EQ(table_->find(top, 0)->label, label);
  EXPECT_EQ(table_->find(::getpid(), 0)->label, Processes::kHost);
  ASSERT_EQ(::write(in[1], "xx", 2), 2);
  reap(top);
  for (int fd : {in[0], in[1], out[0], out[1]}) ::close(fd);
}

// As below a keeper: what loses its parent is taken in by it, and stays its command's.
TEST_P(ProcessTable, Orphan_StaysWithItsCommand) {
  int in[2], out[2];
  ASSERT_EQ(::pipe2(in, O_CLOEXEC), 0);
  ASSERT_EQ(::pipe2(out, O_CLOEXEC), 0);
  const auto tell_self = [&] {
    const pid_t self = ::getpid();
    [[maybe_unused]] const ssize_t n = ::write(out[1], &self, sizeof self);
  };
  const auto wait_for_word = [&] {
    char c;
    [[maybe_unused]] const ssize_t n = ::read(in[0], &c, 1);
  };
  const pid_t keeper = child([&] {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    const pid_t self = ::getpid();
    if (::fork() == 0) {
      tell_self();
      wait_for_word();
      if (::fork() != 0) ::_exit(0);
      while (::getppid() != self) ::sched_yield();
      tell_self();
      wait_for_word();
      ::_exit(0);
    }
    while (::wait(nullptr) > 0) {
    }
  });
  pid_t command = 0, orphan = 0;
  ASSERT_EQ(::read(out[0], &command, sizeof command), static_cast<ssize_t>(sizeof command));
  const uint32_t label = table_->new_label();
  table_->mark(command, label);
  ASSERT_EQ(::write(in[1], "x", 1), 1);
  ASSERT_EQ(::read(out[0], &orphan, sizeof orphan), static_cast<ssize_t>(sizeof orphan));
  const auto found = table_->find(orphan, 0);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->label, label);
  ASSERT_EQ(::write(in[1], "x", 1), 1);
  reap(keeper);
  for (int fd : {in[0], in[1], out[0], out[1]}) ::close(fd);
}

TEST_P(ProcessTable, UnknownNumber_IsNobody) {
  EXPECT_FALSE(table_->find(0, 0));
  EXPECT_FALSE(table_->find(-1, 0));
  EXPECT_FALSE(table_->find(0x3fffffff, 0));
}

std::string name_of_source(const ::testing::TestParamInfo<Source>& info) {
  switch (info.param) {
    case Source::bpf:
      return "Bpf";
    case Source::connector:
      return "Connector";
    default:
      return "Proc";
  }
}
INSTANTIATE_TEST_SUITE_P(Sources, ProcessTable,
                         ::testing::Values(Source::bpf, Source::connector, Source::proc),
                         name_of_source);

}  // namespace
}  // namespace sandglass::proc
