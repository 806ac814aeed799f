// Bytes in and out: rules X3, X4, X5; cases E1, E2, E3, E5.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "support/temp_dir.h"
#include "unit/proc/call.h"

namespace sandglass::proc::testing {
namespace {

TEST(Output, CharacterSplitAcrossReads_IsNotMangled) {  // E1
  const Ran ran = run_it(shell("printf '\\342\\202'; sleep .2; printf '\\254\\377\\000x'"));
  EXPECT_EQ(ran.out, std::string("\xe2\x82\xac\xff\0x", 6));
}

TEST(Output, BothStreamsLarge_ArriveApartAndWhole) {
  const Ran ran =
      run_it(shell("head -c 3000000 /dev/zero | tr '\\0' a; head -c 3000000 /dev/zero | "
                   "tr '\\0' b >&2; printf end"));
  EXPECT_EQ(ran.out, std::string(3'000'000, 'a') + "end");
  EXPECT_EQ(ran.err, std::string(3'000'000, 'b'));
}

TEST(Output, BackgroundChildHoldsThePipe_ReturnsAtOnce) {  // E2, X4
  const std::string tag = fresh_tag();
  Spawn what = shell("sleep 300 & echo hi; exit 3");
  what.tag = tag;
  const Ran ran = run_it(what);
  ASSERT_TRUE(ran.exit);
  EXPECT_EQ(ran.exit->value, 3);
  EXPECT_EQ(ran.out, "hi\n");
  EXPECT_EQ(ran.exit->survivors, 1u);
  EXPECT_LT(ran.seconds, 0.5);
  EXPECT_EQ(count_tagged(tag), 1);
  EXPECT_EQ(std::system(("kill -9 $(grep -lz SANDGLASS_TAG=" + tag +
                         " /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3)")
                            .c_str()),
            0);
  EXPECT_TRUE(eventually([&] { return count_tagged(tag) == 0; }));
}

TEST(Output, BackgroundChildFloodsThePipe_ReturnsSoon) {  // E2
  Spawn what = shell("yes & echo $! >&2; exit 4");
  const Ran ran = run_it(what);
  EXPECT_EQ(ran.exit->value, 4);
  EXPECT_LT(ran.seconds, 1.0);
  const int pid = std::atoi(ran.err.c_str());
  ASSERT_GT(pid, 0);
  EXPECT_TRUE(alive(pid)) << "left on purpose; nobody reads it, that must not end it";
  ::kill(pid, SIGKILL);
  EXPECT_TRUE(eventually([&] { return !alive(pid); }));
}

TEST(Output, SlowReader_GetsAllFromBeforeTheExit) {
  Io io;
  size_t bytes = 0;
  io.output = [&](int, std::string_view part) {
    ::poll(nullptr, 0, 400);  // longer than stragglers are waited for
    bytes += part.size();
    return true;
  };
  // A background child keeps the pipe open, so no end of file tells that all is read.
  const auto result = run(shell("sleep 300 & head -c 200000 /dev/zero; kill -9 $!"), io, {});
  ASSERT_TRUE(result);
  EXPECT_EQ(bytes, 200'000u);
}

TEST(Output, Refused_LetsTheChildRunToItsEnd) {  // X3
  Io io;
  int calls = 0;
  io.output = [&](int, std::string_view) { return ++calls < 2; };
  const auto result = run(shell("head -c 20000000 /dev/zero; exit 6"), io, within_ms(20'000));
  ASSERT_TRUE(result) << result.error().text;
  EXPECT_EQ(result->value, 6);
  EXPECT_EQ(calls, 2);
}

size_t peak_kb() {
  rusage usage;
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<size_t>(usage.ru_maxrss);
}

TEST(Output, TwoHundredMegabytes_TakeNoMemory) {  // E3
  run_it(shell("true"));
  Io io;
  uint64_t bytes = 0;
  io.output = [&](int, std::string_view part) {
    bytes += part.size();
    return true;
  };
  const size_t before = peak_kb();
  ASSERT_TRUE(run(shell("head -c 200000000 /dev/zero | tr '\\0' x"), io, {}));
  EXPECT_EQ(bytes, 200'000'000u);
  EXPECT_LT(peak_kb() - before, 4096u);
}

TEST(Input, NotGiven_IsEndOfFileAtOnce) {  // E5, X5
  const Ran ran = run_it(shell("cat; echo after"), within_ms(5'000));
  ASSERT_TRUE(ran.exit);
  EXPECT_EQ(ran.out, "after\n");
}

TEST(Input, LargeGiven_ArrivesWholeThenEnds) {  // E5
  std::string input;
  for (int i = 0; i < 300'000; ++i) input += std::to_string(i) + "\n";
  Spawn what;
  what.argv = {"cat"};
  what.with_input = true;
  const Ran ran = run_it(what, within_ms(20'000), input);
  ASSERT_TRUE(ran.exit) << ran.exit.error().text;
  EXPECT_TRUE(ran.out == input);
}

TEST(Input, Descriptor_IsAskedOnlyWhenReadable) {
  auto pipe = make_pipe();
  Spawn what = shell("echo ready; cat");
  what.with_input = true;
  Io io;
  std::string out;
  io.input_fd = pipe->read.get();
  io.output = [&](int, std::string_view bytes) {
    out += bytes;
    if (out == "ready\n") {
      EXPECT_TRUE(write_all(pipe->write.get(), "typed"));
      pipe->write.reset();
    }
    return true;
  };
  io.input = [&](std::span<char> room) {
    const ssize_t n = ::read(pipe->read.get(), room.data(), room.size());
    return n > 0 ? static_cast<size_t>(n) : 0;
  };
  const auto result = run(what, io, within_ms(10'000));
  ASSERT_TRUE(result) << result.error().text;
  EXPECT_EQ(out, "ready\ntyped");
}

TEST(Input, ChildThatDoesNotRead_DoesNotHurtTheHost) {  // E5, X5
  Spawn what = shell("exec <&-; exit 5");
  what.with_input = true;
  const Ran ran = run_it(what, within_ms(10'000), std::string(1'000'000, 'x'));
  ASSERT_TRUE(ran.exit) << ran.exit.error().text;
  EXPECT_EQ(ran.exit->value, 5);
  sigset_t pending;
  ::sigpending(&pending);
  EXPECT_EQ(::sigismember(&pending, SIGPIPE), 0);
}

TEST(Input, ChildThatDoesNotRead_StillHasItsOutputRead) {
  Spawn what = shell("echo one; sleep .3; echo two");
  what.with_input = true;
  const Ran ran = run_it(what, within_ms(10'000), std::string(1'000'000, 'x'));
  ASSERT_TRUE(ran.exit) << ran.exit.error().text;
  EXPECT_EQ(ran.out, "one\ntwo\n");
}

TEST(Survivors, OutputAfterTheCall_DoesNotEndThem) {
  sandglass::testing::TempDir dir;
  const Ran ran = run_it(
      shell("(sleep .5; head -c 300000 /dev/zero && echo alive > " + (dir / "f") + ") & exit 0"));
  ASSERT_TRUE(ran.exit);
  EXPECT_GE(ran.exit->survivors, 1u);
  EXPECT_TRUE(eventually([&] { return dir.read("f") == "alive\n"; }));
}

}  // namespace
}  // namespace sandglass::proc::testing
