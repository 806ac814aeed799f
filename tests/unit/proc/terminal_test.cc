// Commands on a terminal.
#include <gtest/gtest.h>
#include <signal.h>

#include "unit/proc/call.h"

namespace sandglass::proc::testing {
namespace {

Spawn on_terminal(const std::string& line) {
  Spawn what = shell(line);
  what.tty = true;
  what.rows = 33;
  what.columns = 101;
  return what;
}

TEST(Terminal, Child_SeesOneOfItsSize) {
  Spawn what = on_terminal("test -t 1 && test -t 2 && echo yes; stty size </dev/tty; echo err >&2");
  const Ran ran = run_it(what, within_ms(10'000));
  ASSERT_TRUE(ran.exit) << ran.exit.error().text;
  EXPECT_EQ(ran.out, "yes\r\n33 101\r\nerr\r\n");
  EXPECT_EQ(ran.err, "");
}

TEST(Terminal, WithoutInput_ReadsEndOfFile) {  // X5
  const Ran ran = run_it(on_terminal("cat; echo after"), within_ms(10'000));
  ASSERT_TRUE(ran.exit) << ran.exit.error().text;
  EXPECT_EQ(ran.out, "after\r\n");
}

TEST(Terminal, InputEnds_ChildSeesTheEnd) {
  for (const std::string input : {"hello\n", "hello"}) {
    Spawn what = on_terminal("stty -echo; echo go; cat; echo after");
    what.with_input = true;
    const Ran ran = run_it(what, within_ms(10'000), input);
    ASSERT_TRUE(ran.exit) << ran.exit.error().text;
    EXPECT_NE(ran.out.find("hello"), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find("after"), std::string::npos) << ran.out;
  }
}

TEST(Terminal, LargeOutput_ArrivesWhole) {
  const Ran ran = run_it(
      on_terminal("stty -opost </dev/tty; head -c 500000 /dev/zero | tr '\\0' x; printf end"),
      within_ms(20'000));
  ASSERT_TRUE(ran.exit) << ran.exit.error().text;
  EXPECT_EQ(ran.out.size(), 500'003u);
  EXPECT_TRUE(ran.out.ends_with("end"));
}

TEST(Terminal, Resized_ChildHears) {
  Spawn what =
      on_terminal("trap 'stty size </dev/tty; exit 9' WINCH; echo up; while :; do sleep .02; done");
  what.tag = fresh_tag();
  what.owner = 1;
  Io io;
  std::string out;
  io.output = [&](int, std::string_view bytes) {
    if (out.empty()) {
      EXPECT_EQ(resize_tagged(2, what.tag, 5, 12).error().fault, Fault::not_found);
      EXPECT_TRUE(resize_tagged(1, what.tag, 50, 120));
    }
    out += bytes;
    return true;
  };
  const auto result = run(what, io, within_ms(10'000));
  ASSERT_TRUE(result) << result.error().text;
  EXPECT_EQ(result->value, 9);
  EXPECT_EQ(out, "up\r\n50 120\r\n");
  EXPECT_EQ(resize_tagged(1, what.tag, 5, 12).error().fault, Fault::not_found);
}

TEST(Terminal, ResizedWhenStarted_CommandBeginsWithThatSize) {
  Spawn what = on_terminal("stty size </dev/tty");
  what.tag = fresh_tag();
  Io io;
  std::string out;
  io.started = [&](int, int) { EXPECT_TRUE(resize_tagged(0, what.tag, 50, 120)); };
  io.output = [&](int, std::string_view bytes) { return out += bytes, true; };
  ASSERT_TRUE(run(what, io, within_ms(10'000)));
  EXPECT_EQ(out, "50 120\r\n");
}

TEST(Terminal, CommandWithoutOne_CannotBeResized) {
  Spawn what = shell("true");
  what.tag = fresh_tag();
  Io io;
  io.started = [&](int, int) {
    EXPECT_EQ(resize_tagged(0, what.tag, 50, 120).error().fault, Fault::invalid);
  };
  ASSERT_TRUE(run(what, io, within_ms(10'000)));
}

TEST(Terminal, InterruptKey_ReachesTheForeground) {
  Spawn what =
      on_terminal("trap 'echo int; exit 8' INT; stty -echo; echo up; while :; do sleep .02; done");
  what.with_input = true;
  auto pipe = make_pipe();
  Io io;
  std::string out;
  io.input_fd = pipe->read.get();
  io.input = [&](std::span<char> room) {
    const ssize_t n = ::read(pipe->read.get(), room.data(), room.size());
    return n > 0 ? static_cast<size_t>(n) : 0;
  };
  io.output = [&](int, std::string_view bytes) {
    if (out.empty()) {
      EXPECT_TRUE(write_all(pipe->write.get(), "\x03"));
    }
    out += bytes;
    return true;
  };
  const auto result = run(what, io, within_ms(10'000));
  ASSERT_TRUE(result) << result.error().text;
  EXPECT_EQ(result->value, 8);
  EXPECT_EQ(out, "up\r\nint\r\n");
}

TEST(Terminal, BackgroundChildHoldsIt_ReturnsSoon) {
  const Ran ran = run_it(on_terminal("trap '' HUP; sleep 30 & echo $!; exit 3"), within_ms(10'000));
  ASSERT_TRUE(ran.exit) << ran.exit.error().text;
  EXPECT_EQ(ran.exit->value, 3);
  EXPECT_EQ(ran.exit->survivors, 1u);
  EXPECT_LT(ran.seconds, 0.6);
  ::kill(std::atoi(ran.out.c_str()), SIGKILL);
}

}  // namespace
}  // namespace sandglass::proc::testing
