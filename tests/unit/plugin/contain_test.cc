// Cases P6 and P7: a plugin that ends the process, comes too late, or leaves things behind.
#include "plugin/contain.h"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "base/clock.h"
#include "instances.h"
#include "plugin/host.h"
#include "support/left.h"

namespace sandglass::plugin {
namespace {

using config::Value;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Value ends(const char* in, const char* by = "exit") {
  Value map = with("in", Value::of(std::string(in)));
  map.set("by", Value::of(std::string(by)));
  return map;
}

std::shared_ptr<Instance> made(const char* type, const Value& config, HostServices services = {}) {
  auto instance = Instance::create(hook_type(type), "mine", config, std::move(services));
  if (!instance) throw std::runtime_error(instance.error().text);
  return *instance;
}

struct Delivered {
  Status status;
  uint32_t flags;
};

Delivered deliver(const Instance& instance) {
  const auto hook = instance.methods<sg_hook>();
  const sg_event event = file_event(SG_EV_FILE_CHANGE, "a.c");
  Call call({{}, mono_ns() + 20'000'000'000, nullptr});
  Status status =
      instance.call(call, [&](void* self) { return hook.on_event(self, call.abi(), &event); });
  return {std::move(status), call.fail_flags()};
}

// What a process ends with that runs this.
template <class F>
int exit_status_of(F&& act) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    act();
    ::exit(77);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return status;
}

// ---- P7: ends the process ----

TEST(Contain, PluginEndsTheProcess_InACall_IsAnErrorThatNamesIt) {  // P7
  for (const std::string by : {"exit", "quick_exit", "_exit", "_Exit"}) {
    const auto instance = made("exits", ends("on_event", by.c_str()));
    EXPECT_FALSE(instance->quarantined());
    const auto [status, flags] = deliver(*instance);
    ASSERT_FALSE(status) << by;
    EXPECT_EQ(status.error().fault, Fault::plugin);
    EXPECT_THAT(status.error().text, AllOf(HasSubstr("hook 'exits' (" + bad_plugin("exits") + ")"),
                                           HasSubstr("called " + by + "(3)")));
    EXPECT_EQ(flags, 0u);
  }
  EXPECT_TRUE(deliver(*made("good", {})).status) << "others serve on";
}

TEST(Contain, PluginEndsTheThread_InACall_IsAnError) {  // P7
  const auto status = deliver(*made("exits", ends("on_event", "pthread_exit"))).status;
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().text, HasSubstr("called pthread_exit()"));
}

TEST(Contain, Quarantined_Called_AnswersTheSameQuietlyAndIsNotDestroyed) {  // P7
  LogLines lines;
  auto instance = made("exits", ends("on_event"));
  const auto first = deliver(*instance);
  ASSERT_FALSE(first.status);
  EXPECT_TRUE(instance->quarantined());
  for (int i = 0; i < 3; i++) {
    const auto again = deliver(*instance);
    ASSERT_FALSE(again.status);
    EXPECT_EQ(again.status.error().text, first.status.error().text);
    EXPECT_EQ(again.flags, uint32_t{SG_FAIL_QUIET}) << "who logs it hides it";
  }
  instance.reset();
  EXPECT_THAT(lines.take(), IsEmpty());
}

TEST(Contain, PluginEndsTheProcess_InCreate_IsRefused) {  // P7
  const auto instance = Instance::create(hook_type("exits"), "mine", ends("create"), {});
  ASSERT_FALSE(instance);
  EXPECT_THAT(instance.error().text, AllOf(HasSubstr("could not start"), HasSubstr("exit(3)")));
}

TEST(Contain, PluginEndsTheProcess_InDestroy_IsLogged) {  // P7
  LogLines lines;
  made("exits", ends("destroy")).reset();
  EXPECT_THAT(lines.take(), ElementsAre(AllOf(HasSubstr("error errors"), HasSubstr("exit(3)"))));
}

TEST(Contain, PluginEndsTheProcess_InItsConstructor_IsRefused) {  // P7
  const Registry registry({{bad_plugin("exits_at_load"), {}, {}},
                           {bad_plugin("aborts_at_load"), {}, {}},
                           {bad_plugin("good"), {}, {}}});
  const auto& looked = registry.looked();
  ASSERT_GE(looked.size(), 3u);
  EXPECT_FALSE(looked[0].loaded);
  EXPECT_THAT(looked[0].sentence,
              AllOf(HasSubstr(bad_plugin("exits_at_load")), HasSubstr("calls exit(3) while")));
  EXPECT_FALSE(looked[1].loaded);
  EXPECT_THAT(looked[1].sentence, HasSubstr("ended by signal 6 while"));
  EXPECT_TRUE(looked[2].loaded) << "others serve on";
}

// The host's own frames stand between: the command is ended, and nothing of it stays.
TEST(Contain, PluginEndsTheProcess_InACallbackOfAService_EndsWhatTheServiceDid) {  // P7
  for (const char* in : {"started", "write"}) {
    const int64_t began = mono_ns();
    const auto status = deliver(*made("exits", ends(in))).status;
    ASSERT_FALSE(status);
    EXPECT_THAT(status.error().text, HasSubstr("called exit(3)")) << in;
    EXPECT_LT(mono_ns() - began, 5'000'000'000);
    EXPECT_NE(std::system("pgrep -fx 'sleep 4322' > /dev/null"), 0) << "the command lives on";
    EXPECT_TRUE(deliver(*made("good", {})).status);
  }
}

TEST(Contain, ChildOfThePlugin_EndsAsItLikes) {  // P7
  const auto status = deliver(*made("exits", ends("on_event", "fork"))).status;
  EXPECT_TRUE(status) << status.error().text;
  int ended = 0;
  EXPECT_GT(::wait(&ended), 0);
  EXPECT_EQ(WEXITSTATUS(ended), 3);
}

// In a process of its own, as the plugin is of no use after that.
TEST(Contain, PluginsOwnThreadEndsTheProcess_ThreadIsStoppedAndThePluginNamed) {  // P7
  const int status = exit_status_of([] {
    LogLines lines;
    const auto instance = made("exits", ends("thread"));
    if (!deliver(*instance).status) ::exit(1);
    std::vector<std::string> said;
    const int64_t end = mono_ns() + 10'000'000'000;
    while (said.empty() && mono_ns() < end) {
      std::this_thread::yield();
      said = lines.take();
    }
    if (said.size() != 1 ||
        said[0].find(bad_plugin("exits") + " called exit(3) on a thread") == std::string::npos)
      ::exit(2);
    if (!instance->quarantined() || deliver(*instance).status) ::exit(3);
  });
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 77) << "which step failed";
}

TEST(Contain, HostEnds_WithItsOwnCode) {
  const int by_main = exit_status_of([] { ::exit(41); });
  EXPECT_EQ(WEXITSTATUS(by_main), 41);
  const int by_thread = exit_status_of([] { std::thread([] { ::_exit(42); }).join(); });
  EXPECT_EQ(WEXITSTATUS(by_thread), 42);
  const int handlers = exit_status_of([] {
    std::atexit([] { ::_exit(43); });
    std::exit(1);
  });
  EXPECT_EQ(WEXITSTATUS(handlers), 43);
}

TEST(Contain, Nested_InnerEnds_OuterGoesOn) {
  bool after = false;
  const auto outer = contain([&] {
    const auto inner = contain([] { ::exit(5); });
    EXPECT_TRUE(inner && inner->code == 5);
    after = true;
    leave(*inner);
  });
  EXPECT_TRUE(after);
  ASSERT_TRUE(outer);
  EXPECT_EQ(outer->text(), "exit(5)");
}

TEST(Contain, Throws_PassesAndLeavesNoTrace) {
  EXPECT_THROW(contain([] { throw 7; }), int);
  const int status = exit_status_of([] { ::exit(44); });
  EXPECT_EQ(WEXITSTATUS(status), 44);
}

// ---- P6 ----

// A thread, a thread-local object and an exit handler of the plugin; the calling thread ends, then
// the instance, then the process.
TEST(Contain, LingeringPlugin_ThreadInstanceAndProcessEnd_DoesNotCrash) {  // P6
  const int status = exit_status_of([] {
    std::thread([] {
      auto instance = made("lingering", {});
      if (!deliver(*instance).status) ::exit(1);
      std::thread([&] {
        if (!deliver(*instance).status) ::exit(2);
      }).join();
      instance.reset();
    }).join();
  });
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 77);
}

// ---- P7: blocks, comes too late ----

TEST(Contain, PluginBlocksInDestroy_IsLeftBehind) {  // P7
  testing::may_leave(testing::Left::thread, "the plugin blocks it for a minute");
  LogLines lines;
  const int64_t began = mono_ns();
  made("blocks", with("in", Value::of(std::string("destroy")))).reset();
  EXPECT_LT(mono_ns() - began, 15'000'000'000);
  EXPECT_THAT(lines.take(), ElementsAre(AllOf(HasSubstr("hook 'blocks'"), HasSubstr("destroy()"))));
}

TEST(Contain, PluginComesAfterDestroy_IsAnsweredAndNamedOnce) {  // P7
  int pair[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
  int emitted = 0;
  HostServices lent;
  lent.emit = [&](std::string_view, std::string_view, std::string_view) {
    emitted++;
    return sg_status{SG_OK};
  };
  made("late", with("fd", Value::of(int64_t{pair[1]})), lent).reset();
  LogLines lines;
  for (int round = 0; round < 3; round++) {
    char c = 'x';
    ASSERT_EQ(::write(pair[0], &c, 1), 1);
    ASSERT_EQ(::read(pair[0], &c, 1), 1);
  }
  EXPECT_EQ(emitted, 0);
  EXPECT_THAT(lines.take(),
              ElementsAre(AllOf(HasSubstr("error errors hook 'late' (" + bad_plugin("late")),
                                HasSubstr("after destroy()"))));
  ::close(pair[0]);
}

TEST(Host, Retired_WhileUsed_LetsGoOnlyWhenNobodyIsInside) {  // P7
  for (int round = 0; round < 20; round++) {
    auto alive = std::make_shared<std::atomic<bool>>(true);
    HostServices lent;
    lent.emit = [alive](std::string_view, std::string_view, std::string_view) {
      return alive->load() ? sg_status{SG_OK} : sg_status{SG_E_CORRUPT};
    };
    Host host("named", "kind", Value{}, lent);
    lent = {};
    const auto* events =
        static_cast<const sg_event_service*>(host.service(&host, SG_SERVICE_EVENT));
    std::atomic<bool> begun{false};
    std::thread late([&] {
      sg_status status = SG_OK;
      while (status == SG_OK) {
        status = events->emit(&host, text_of("b"), text_of("t"), text_of("{}"));
        begun = true;
      }
      EXPECT_EQ(status, SG_E_LOST);
    });
    while (!begun) std::this_thread::yield();
    LogLines lines;
    host.retire("hook 'x'");
    EXPECT_EQ(alive.use_count(), 1) << "what was lent is let go";
    late.join();
  }
}

}  // namespace
}  // namespace sandglass::plugin
