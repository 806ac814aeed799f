// Case P7 (a plugin that misbehaves is contained) and the C++ wrapper against the real host.
#include "plugin/instance.h"

#include <gmock/gmock.h>

#include <thread>

#include "base/clock.h"
#include "instances.h"

namespace sandglass::plugin {
namespace {

using config::Value;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::shared_ptr<Instance> made(const std::string& type, const Value& with = {},
                               HostServices services = {}) {
  auto instance = Instance::create(hook_type(type), "mine", with, std::move(services));
  if (!instance) throw std::runtime_error(instance.error().text);
  return *instance;
}

std::string refused(const std::string& type, const Value& with = {}) {
  const auto instance = Instance::create(hook_type(type), "mine", with, {});
  return instance ? "accepted" : instance.error().text;
}

Status deliver(const Instance& instance, Call& call, const sg_event& event) {
  const auto hook = instance.methods<sg_hook>();
  return instance.call(call, [&](void* self) { return hook.on_event(self, call.abi(), &event); });
}

Status deliver(const Instance& instance) {
  Call call({});
  return deliver(instance, call, file_event(SG_EV_FILE_CHANGE, "a.c"));
}

TEST(Instance, Wrapped_Called_SeesEventAndContent) {
  LogLines lines;
  HostServices services;
  const std::string patch = "the patch";
  services.content = [&](sg_call*, const sg_event*, uint32_t which, sg_content* out) {
    EXPECT_EQ(which, uint32_t{SG_DIFF});
    out->state = SG_CONTENT_HERE;
    out->data = {reinterpret_cast<const uint8_t*>(patch.data()), patch.size()};
  };
  const auto instance = made("trial", {}, services);
  EXPECT_EQ(instance->name(), "mine");
  EXPECT_EQ(instance->type().plugin_version, "2.1.0");
  EXPECT_EQ(instance->methods<sg_hook>().interests(instance->self()), SG_EV_FILES);
  lines.take();
  const auto status = deliver(*instance);
  ASSERT_TRUE(status) << status.error().text;
  EXPECT_THAT(lines.take(), ElementsAre("info trial change a.c the patch"));
}

TEST(Instance, WrapperThrows_Called_StatusAndWordsArrive) {
  const auto fault = [](const char* how, uint32_t flags) {
    const auto instance = made("trial", with("fail", Value::of(std::string(how))));
    Call call({});
    const auto status = deliver(*instance, call, file_event(SG_EV_FILE_CHANGE, "a.c"));
    EXPECT_FALSE(status) << how;
    EXPECT_EQ(call.fail_flags(), flags) << how;
    return status ? Error{} : status.error();
  };
  const Error busy = fault("event", SG_FAIL_RETRY);
  EXPECT_EQ(busy.fault, Fault::busy);
  EXPECT_EQ(busy.text, "try later");
  const Error other = fault("other", 0);
  EXPECT_EQ(other.fault, Fault::failed);
  EXPECT_EQ(other.text, "went wrong");
  EXPECT_EQ(fault("odd", 0).text, "threw something unknown");
  EXPECT_EQ(fault("memory", 0).fault, Fault::no_memory);
}

TEST(Instance, WrapperThrowsInCreate_Created_NamesPluginKeyAndPlace) {
  Value retry = Value::make_map();
  retry.set("max", placed(Value::of(int64_t{13}), 4));
  Value config = with("fail", Value::of(std::string("create")));
  config.set("retry", std::move(retry));
  EXPECT_THAT(refused("trial", config),
              AllOf(HasSubstr("hook 'trial' (" + bad_plugin("trial") + ") could not start"),
                    HasSubstr("test.yaml:4:5: retry.max: must not be 13")));
}

TEST(Instance, UnreadableConfiguration_Created_IsRefusedAndDestroyed) {
  LogLines lines;
  EXPECT_THAT(refused("trial", with("limit", Value::of(std::string("soon")))),
              HasSubstr("test.yaml:3:5: limit: "));
  EXPECT_THAT(refused("trial", with("room", Value::of(true))),
              HasSubstr("room: must be a size such as 10 MB, is true or false"));
}

TEST(Instance, CancelledWhileWaiting_Called_Returns) {
  const auto instance = made("trial", with("fail", Value::of(std::string("wait"))));
  Call call({{}, mono_ns() + 60'000'000'000, nullptr});
  std::thread other([&] { call.cancel(); });
  const auto status = deliver(*instance, call, file_event(SG_EV_FILE_CHANGE, "a.c"));
  other.join();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().fault, Fault::cancelled);
}

// Case P7.
TEST(Instance, ExceptionCrossesInCreate_Created_IsRefused) {
  EXPECT_THAT(refused("throws", with("in", Value::of(std::string("create")))),
              AllOf(HasSubstr("hook 'throws'"), HasSubstr("thrown in create")));
}

// Case P7.
TEST(Instance, ExceptionCrossesInACall_Called_NamesThePlugin) {
  for (const char* in : {"on_event", "number"}) {
    const auto instance = made("throws", with("in", Value::of(std::string(in))));
    const auto status = deliver(*instance);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().fault, Fault::failed);
    EXPECT_THAT(status.error().text,
                AllOf(HasSubstr("hook 'throws' (" + bad_plugin("throws")), HasSubstr("threw")));
  }
  EXPECT_TRUE(deliver(*made("good"))) << "others serve on";
}

// Case P7.
TEST(Instance, ExceptionCrossesInDestroy_Destroyed_IsLogged) {
  LogLines lines;
  made("throws", with("in", Value::of(std::string("destroy")))).reset();
  EXPECT_THAT(lines.take(),
              ElementsAre(AllOf(HasSubstr("error errors"), HasSubstr("thrown in destroy"))));
}

// Case P7: what hangs is left alone; shutdown does not wait for it.
TEST(Instance, Abandoned_Dropped_IsNotDestroyed) {
  LogLines lines;
  auto instance = made("throws", with("in", Value::of(std::string("destroy"))));
  instance->abandon();
  instance.reset();
  EXPECT_THAT(lines.take(), IsEmpty());
}

TEST(Instance, NeedsProcess_Created_IsRefusedWithASentence) {
  EXPECT_THAT(refused("needs-process"),
              AllOf(HasSubstr("hook 'needs-process'"), HasSubstr("in a process of its own")));
}

TEST(Instance, Diagnose_Asked_GivesJsonOrNothing) {
  const auto told = Instance::diagnose(hook_type("trial"), {});
  ASSERT_TRUE(told) << told.error().text;
  EXPECT_EQ(*told, "{\"ok\":true}");
  const auto silent = Instance::diagnose(hook_type("good"), {});
  ASSERT_TRUE(silent) << silent.error().text;
  EXPECT_EQ(*silent, "");
}

TEST(Instance, SchemaViolated_Created_NamesPlaceAndKey) {
  const std::string text = refused("trial", with("fail", Value::of(int64_t{7})));
  EXPECT_THAT(text, AllOf(HasSubstr("test.yaml:3:5"), HasSubstr("fail")));
}

}  // namespace
}  // namespace sandglass::plugin
