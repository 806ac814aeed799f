#include "plugin/call.h"

#include <gmock/gmock.h>
#include <poll.h>

#include <thread>

#include "base/clock.h"
#include "instances.h"
#include "plugin/host.h"

namespace sandglass::plugin {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int64_t kMs = 1'000'000;

// A host of no plugin.
struct Fixture : ::testing::Test {
  Host host{"named", "kind", config::Value{}, {}};
  sg_status fail(Call& call, sg_status status, const std::string& text, uint32_t flags = 0) {
    return host.fail(&host, call.abi(), status, flags, {"", 0}, text_of(text));
  }
};
using CallTest = Fixture;

TEST_F(CallTest, Options_Made_AreSeenByThePlugin) {
  Call call({"box-1", 77, nullptr});
  EXPECT_EQ(call.abi()->struct_size, sizeof(sg_call));
  EXPECT_EQ(call.abi()->deadline_ns, 77u);
  EXPECT_EQ(std::string(call.abi()->sandbox_id.data, call.abi()->sandbox_id.len), "box-1");
  EXPECT_EQ(call.abi()->run, nullptr);
  EXPECT_GE(call.abi()->cancel_fd, 0);
}

TEST_F(CallTest, Cancelled_Polled_DescriptorIsReadable) {
  Call call({});
  pollfd p{call.abi()->cancel_fd, POLLIN, 0};
  EXPECT_EQ(::poll(&p, 1, 0), 0);
  EXPECT_EQ(host.cancelled(&host, call.abi()), 0u);
  call.cancel();
  EXPECT_EQ(::poll(&p, 1, 0), 1);
  EXPECT_TRUE(call.cancelled());
  EXPECT_EQ(host.cancelled(&host, call.abi()), 1u);
}

TEST_F(CallTest, DeadlinePassed_Asked_CountsAsCancelled) {
  Call call({{}, mono_ns() - kMs, nullptr});
  EXPECT_EQ(host.cancelled(&host, call.abi()), 1u);
  EXPECT_FALSE(call.cancelled());
}

TEST_F(CallTest, Fail_Said_IsTheError) {
  Call call({});
  EXPECT_EQ(fail(call, SG_E_BUSY, "the store is locked", SG_FAIL_RETRY), SG_E_BUSY);
  const Error error = call.error(SG_E_BUSY);
  EXPECT_EQ(error.fault, Fault::busy);
  EXPECT_EQ(error.text, "the store is locked");
  EXPECT_EQ(call.fail_flags(), uint32_t{SG_FAIL_RETRY});
}

TEST_F(CallTest, FailOfAnotherStatus_Returned_IsToldApart) {
  Call call({});
  fail(call, SG_E_NOT_FOUND, "no cache");
  EXPECT_THAT(call.error(SG_E_LOST).text,
              AllOf(HasSubstr("(lost)"), HasSubstr("before that: no cache")));
}

TEST_F(CallTest, NothingSaid_Failed_GivesASentence) {
  Call call({});
  EXPECT_THAT(call.error(SG_E_DENIED).text, HasSubstr("gave no reason (denied)"));
  EXPECT_EQ(call.error(99).fault, Fault::failed);
  EXPECT_THAT(call.error(99).text, HasSubstr("status 99"));
  EXPECT_THAT(call.error(-1).text, HasSubstr("status -1"));
}

TEST_F(CallTest, HostileText_Failed_IsEscaped) {
  Call call({});
  fail(call, SG_E_FAILED, "cannot read \x1b[2Jfile");
  EXPECT_EQ(call.error(SG_E_FAILED).text, "cannot read \\x1b[2Jfile");
}

TEST_F(CallTest, FailOutsideACall_Said_IsLogged) {
  LogLines lines;
  EXPECT_EQ(host.fail(&host, nullptr, SG_E_LOST, 0, {"", 0}, text_of("gone")), SG_E_LOST);
  EXPECT_THAT(lines.take(), ::testing::ElementsAre("error errors named: gone"));
}

TEST_F(CallTest, Wait_ReadyDescriptor_ReturnsOk) {
  auto pipe = make_pipe();
  ASSERT_TRUE(pipe);
  Call call({});
  EXPECT_EQ(host.wait(&host, call.abi(), pipe->read.get(), SG_WAIT_READ, 0), SG_E_TIMEOUT);
  EXPECT_EQ(host.wait(&host, call.abi(), pipe->write.get(), SG_WAIT_WRITE, 1000), SG_OK);
  ASSERT_TRUE(write_all(pipe->write.get(), "x"));
  EXPECT_EQ(host.wait(&host, call.abi(), pipe->read.get(), SG_WAIT_READ, 1000), SG_OK);
}

TEST_F(CallTest, Wait_HungUpOrClosedDescriptor_Returns) {
  auto pipe = make_pipe();
  ASSERT_TRUE(pipe);
  pipe->write.reset();
  Call call({});
  EXPECT_EQ(host.wait(&host, call.abi(), pipe->read.get(), SG_WAIT_READ, 1000), SG_OK);
  EXPECT_EQ(host.wait(&host, call.abi(), 1'000'000, SG_WAIT_READ, 1000), SG_E_INVALID);
}

TEST_F(CallTest, Wait_DeadlineOrLimit_ReturnsTimeout) {
  Call call({{}, mono_ns() + 20 * kMs, nullptr});
  EXPECT_EQ(host.wait(&host, call.abi(), -1, 0, -1), SG_E_TIMEOUT);
  EXPECT_GE(mono_ns(), static_cast<int64_t>(call.abi()->deadline_ns));
  Call endless({});
  EXPECT_EQ(host.wait(&host, endless.abi(), -1, 0, 5), SG_E_TIMEOUT);
}

TEST_F(CallTest, Wait_CancelledFromAnotherThread_Returns) {
  Call call({{}, mono_ns() + 60'000 * kMs, nullptr});
  std::thread other([&] { call.cancel(); });
  EXPECT_EQ(host.wait(&host, call.abi(), -1, 0, -1), SG_E_CANCELLED);
  other.join();
}

TEST_F(CallTest, Wait_WithoutCancelDescriptor_StillSeesCancellation) {
  Call call({{}, mono_ns() + 60'000 * kMs, nullptr});
  call.abi()->cancel_fd = -1;  // as when the process has no descriptor left
  std::thread other([&] { call.cancel(); });
  EXPECT_EQ(host.wait(&host, call.abi(), -1, 0, -1), SG_E_CANCELLED);
  other.join();
}

}  // namespace
}  // namespace sandglass::plugin
