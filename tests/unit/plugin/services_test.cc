// What a plugin gets through host->service() and the host's log.
#include <gmock/gmock.h>
#include <signal.h>

#include <functional>
#include <utility>

#include "base/clock.h"
#include "instances.h"
#include "plugin/host.h"

namespace sandglass::plugin {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class T>
const T* service(const Host& host, const char* id) {
  return static_cast<const T*>(static_cast<const sg_host&>(host).service(&host, id));
}

// A host that lends nothing.
struct Bare : Host {
  Bare() : Host("named", "kind", config::Value{}, {}) {}
};

TEST(Services, NothingLent_Asked_OnlyProcessIsThere) {
  const Bare host;
  EXPECT_EQ(service<void>(host, SG_SERVICE_EVENT), nullptr);
  EXPECT_EQ(service<void>(host, SG_SERVICE_SANDBOX), nullptr);
  EXPECT_NE(service<void>(host, SG_SERVICE_PROCESS), nullptr);
  EXPECT_EQ(service<void>(host, "sandglass.event/2"), nullptr);
  EXPECT_EQ(service<void>(host, nullptr), nullptr);
}

TEST(Services, EventService_PartlyLent_OtherSlotsAreNull) {
  HostServices lent;
  std::string said;
  lent.emit = [&](std::string_view sandbox, std::string_view topic, std::string_view json) {
    said = std::string(sandbox) + "|" + std::string(topic) + "|" + std::string(json);
    return SG_OK;
  };
  const Host host("named", "kind", config::Value{}, lent);
  const auto* events = service<sg_event_service>(host, SG_SERVICE_EVENT);
  ASSERT_NE(events, nullptr);
  EXPECT_EQ(events->content, nullptr);
  EXPECT_EQ(events->retain, nullptr);
  EXPECT_EQ(events->emit(&host, text_of("box"), text_of("my.topic"), text_of("{}")), SG_OK);
  EXPECT_EQ(said, "box|my.topic|{}");
}

TEST(Services, ContentOfAnOlderPlugin_Given_StaysInItsRoom) {
  HostServices lent;
  lent.content = [](sg_call*, const sg_event*, uint32_t, sg_content* out) {
    EXPECT_EQ(out->struct_size, sizeof(sg_content));
    out->state = SG_CONTENT_ABSENT;
    out->full_size = 99;
    out->sha256 = {"x", 1};
  };
  const Host host("named", "kind", config::Value{}, lent);
  sg_content content{};
  content.struct_size = offsetof(sg_content, full_size);  // as if that were all there is
  content.full_size = 7;
  service<sg_event_service>(host, SG_SERVICE_EVENT)
      ->content(&host, nullptr, nullptr, SG_DIFF, &content);
  EXPECT_EQ(content.state, uint32_t{SG_CONTENT_ABSENT});
  EXPECT_EQ(content.full_size, 7u);
  EXPECT_EQ(content.struct_size, offsetof(sg_content, full_size));
}

TEST(Services, LentFunctionThrows_Called_IsAStatusForThePlugin) {
  HostServices lent;
  lent.content = [](sg_call*, const sg_event*, uint32_t, sg_content*) { throw std::bad_alloc(); };
  lent.read = [](sg_call*, std::string_view, sg_bytes, uint64_t, uint64_t, sg_out*) -> sg_status {
    throw std::bad_alloc();
  };
  const Host host("named", "kind", config::Value{}, lent);
  sg_content content{};
  content.struct_size = sizeof content;
  service<sg_event_service>(host, SG_SERVICE_EVENT)
      ->content(&host, nullptr, nullptr, SG_DIFF, &content);
  EXPECT_EQ(content.state, uint32_t{SG_CONTENT_FAULT});
  Call call({});
  EXPECT_EQ(service<sg_sandbox_service>(host, SG_SERVICE_SANDBOX)
                ->read(&host, call.abi(), text_of("box"), {nullptr, 0}, 0, 1, nullptr),
            SG_E_NO_MEMORY);
}

// Input and output of a command, in memory.
struct Memory : sg_io {
  std::string in, out, err;
  int32_t pid = 0;
  sg_status answer = SG_OK;                     // to each write
  std::function<void()> on_started, on_output;  // the latter once

  Memory() : sg_io{} {
    struct_size = sizeof(sg_io);
    read_fd = -1;
    started = [](sg_io* io, const sg_started* what) -> sg_status {
      static_cast<Memory*>(io)->pid = what->pid;
      if (static_cast<Memory*>(io)->on_started) static_cast<Memory*>(io)->on_started();
      return SG_OK;
    };
    write = [](sg_io* io, int32_t stream, const void* data, size_t len) -> sg_status {
      auto& me = *static_cast<Memory*>(io);
      (stream == 1 ? me.out : me.err).append(static_cast<const char*>(data), len);
      if (me.on_output) std::exchange(me.on_output, nullptr)();
      return me.answer;
    };
    read = [](sg_io* io, void* data, size_t room, size_t* len) -> sg_status {
      auto& me = *static_cast<Memory*>(io);
      *len = std::min(room, me.in.size());
      std::memcpy(data, me.in.data(), *len);
      me.in.erase(0, *len);
      return SG_OK;
    };
  }
};

struct ProcessService : ::testing::Test {
  Host host{"named", "kind", config::Value{}, {}};
  Call call{{{}, mono_ns() + 20'000'000'000, nullptr}};
  Memory io;
  sg_exit exit{};
  std::vector<std::string> argv;
  std::vector<sg_bytes> list;
  sg_exec exec{};

  sg_status run(std::vector<std::string> words) {
    argv = std::move(words);
    list.clear();
    for (const std::string& word : argv)
      list.push_back({reinterpret_cast<const uint8_t*>(word.data()), word.size()});
    exec.struct_size = sizeof exec;
    exec.argv = list.data();
    exec.argc = list.size();
    exit.struct_size = sizeof exit;
    const auto* process = service<sg_process_service>(host, SG_SERVICE_PROCESS);
    return process->run(&host, call.abi(), &exec, &io, &exit);
  }
};

TEST_F(ProcessService, Command_Run_GivesOutputAndExit) {
  exec.flags = SG_EXEC_STDIN;
  io.in = "fed";
  ASSERT_EQ(run({"/bin/sh", "-c", "cat; echo wrong >&2; exit 7"}), SG_OK) << call.error(1).text;
  EXPECT_EQ(io.out, "fed");
  EXPECT_EQ(io.err, "wrong\n");
  EXPECT_GT(io.pid, 0);
  EXPECT_EQ(exit.how, uint32_t{SG_EXIT_CODE});
  EXPECT_EQ(exit.value, 7);
}

TEST_F(ProcessService, Cancelled_Run_EndsAndSaysSo) {
  call.cancel();
  EXPECT_EQ(run({"/bin/sleep", "60"}), SG_E_CANCELLED);
}

TEST_F(ProcessService, PluginRefusesOutput_Run_ItsStatusComesBack) {
  io.answer = SG_E_CORRUPT;
  EXPECT_EQ(run({"/bin/echo", "x"}), SG_E_CORRUPT);
}

TEST_F(ProcessService, Signal_RunningCommand_ReachesThatOfItsOwnInstanceOnly) {
  const auto* process = service<sg_process_service>(host, SG_SERVICE_PROCESS);
  const Bare other;
  io.on_output = [&] {
    EXPECT_EQ(process->signal(&other, text_of("mine"), SIGUSR1), SG_E_NOT_FOUND);
    EXPECT_EQ(process->signal(&host, text_of("yours"), SIGUSR1), SG_E_NOT_FOUND);
    EXPECT_EQ(process->signal(&host, text_of("mine"), 1000), SG_E_INVALID);
    EXPECT_EQ(process->resize(&host, text_of("mine"), 50, 120), SG_E_INVALID);
    EXPECT_EQ(process->signal(&host, text_of("mine"), SIGUSR1), SG_OK);
  };
  exec.tag = {"mine", 4};
  ASSERT_EQ(run({"/bin/sh", "-c", "trap 'exit 7' USR1; echo up; while :; do sleep .02; done"}),
            SG_OK);
  EXPECT_EQ(exit.value, 7);
  EXPECT_EQ(process->signal(&host, text_of("mine"), SIGUSR1), SG_E_NOT_FOUND);
}

TEST_F(ProcessService, Resize_RunningCommand_HasThatSize) {
  const auto* process = service<sg_process_service>(host, SG_SERVICE_PROCESS);
  const Bare other;
  io.on_started = [&] {
    EXPECT_EQ(process->resize(&other, text_of("mine"), 5, 12), SG_E_NOT_FOUND);
    EXPECT_EQ(process->resize(&host, text_of("mine"), 50, 120), SG_OK);
  };
  exec.tag = {"mine", 4};
  exec.flags = SG_EXEC_TTY;
  ASSERT_EQ(run({"/bin/sh", "-c", "stty size </dev/tty"}), SG_OK);
  EXPECT_EQ(io.out, "50 120\r\n");
}

TEST_F(ProcessService, BadArguments_Run_AreRefused) {
  EXPECT_EQ(run({}), SG_E_INVALID);
  EXPECT_THAT(call.error(SG_E_INVALID).text, HasSubstr("argv is empty"));
  EXPECT_EQ(run({std::string("a\0b", 3)}), SG_E_INVALID);
  EXPECT_THAT(call.error(SG_E_INVALID).text, HasSubstr("NUL"));
}

TEST(HostLog, Levels_Logged_GoWhereTheyBelong) {
  LogLines lines;
  const Bare host;
  const auto say = [&](uint32_t level, const char* category, const std::string& text) {
    host.log(&host, level, category, text_of(text));
  };
  say(SG_LOG_DEBUG, nullptr, "hidden");
  say(SG_LOG_INFO, nullptr, "shown");
  say(SG_LOG_WARN, "net", "careful");
  say(SG_LOG_ERROR, nullptr, "broken");
  say(99, nullptr, "beyond");
  EXPECT_THAT(lines.take(),
              ElementsAre("info kind shown", "warn net named: careful",
                          "error errors named: broken", "error errors named: beyond"));
  EXPECT_EQ(host.log_enabled(&host, SG_LOG_DEBUG, nullptr), 0u);
  log::show_categories({"kind"});
  EXPECT_EQ(host.log_enabled(&host, SG_LOG_DEBUG, nullptr), 1u);
  EXPECT_EQ(host.log_enabled(&host, SG_LOG_DEBUG, "net"), 0u);
  say(SG_LOG_DEBUG, nullptr, "now shown");
  log::show_categories({});
  EXPECT_THAT(lines.take(), ElementsAre("debug kind now shown"));
}

TEST(HostLog, HostileText_Logged_IsEscapedButKeepsItsLines) {
  LogLines lines;
  const Bare host;
  host.log(&host, SG_LOG_INFO, nullptr, text_of("a\tb\\n\nc\x1b[2J\xff\xe2\x80\xae"));
  EXPECT_THAT(lines.take(), ElementsAre("info kind a\tb\\n\nc\\x1b[2J\\xff\\u202e"));
  host.log(&host, SG_LOG_INFO, nullptr, text_of(std::string((1 << 20) + 5, 'x')));
  const auto cut = lines.take();
  ASSERT_EQ(cut.size(), 1u);
  EXPECT_THAT(cut[0], HasSubstr("x (and 5 bytes more)"));
}

TEST(HostProgress, ManyCalls_Logged_OnceAndAtTheEnd) {
  LogLines lines;
  const Bare host;
  Call call({});
  for (uint64_t i = 1; i <= 100; i++) host.progress(&host, call.abi(), i, 100, text_of("files"));
  EXPECT_THAT(lines.take(),
              ElementsAre("info  named: files 1 of 100", "info  named: files 100 of 100"));
}

TEST(HostProgress, Listener_Lent_GetsEachCall) {
  HostServices lent;
  uint64_t sum = 0;
  lent.progress = [&](sg_call*, uint64_t done, uint64_t, std::string_view) { sum += done; };
  const Host host("named", "kind", config::Value{}, lent);
  Call call({});
  for (uint64_t i = 1; i <= 4; i++) host.progress(&host, call.abi(), i, 4, text_of("files"));
  EXPECT_EQ(sum, 10u);
}

TEST(HostClock, Times_Asked_AreOfTheRightClocks) {
  const Bare host;
  const auto before = static_cast<uint64_t>(mono_ns());
  EXPECT_GE(host.now_ns(&host), before);
  EXPECT_NEAR(static_cast<double>(host.time_ms(&host)), static_cast<double>(wall_ns()) / 1e6, 5000);
}

}  // namespace
}  // namespace sandglass::plugin
