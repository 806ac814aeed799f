// Durable hooks through refusals, restarts and kill -9 (rule H7).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <sstream>

#include "e2e/background.h"
#include "e2e/product.h"

namespace sandglass::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Line {
  uint64_t seq = 0;
  unsigned kind = 0;
  bool replay = false;
  std::string path, before;
};

class Durable : public Product {
 public:
  explicit Durable(const std::string& with = "") { define("durable", with); }

  void define(const std::string& delivery, const std::string& with = "",
              const std::string& name = "ledger") const {
    dir().write("c.yaml", "version: 1\nplugins: [{file: '" LEDGER
                          "'}]\nsandboxes:\n  s:\n    hooks:\n      onFile:\n"
                          "        - {use: ledger, name: " +
                              name + ", delivery: " + delivery + ", with: {file: '" +
                              (dir() / "ledger") + "'" + with + "}}\n");
  }
  Ran go(const std::string& script) const { return run(script, {"--config", dir() / "c.yaml"}); }
  std::vector<Line> ledger() const {
    std::vector<Line> out;
    std::istringstream in(dir().read("ledger"));
    for (std::string text; std::getline(in, text);) {
      Line line;
      std::istringstream words(text);
      words >> line.seq >> line.kind >> line.replay >> line.path >> line.before;
      out.push_back(line);
    }
    return out;
  }
  // The journal's file events, and that its seq has no gap.
  std::vector<uint64_t> journal() const {
    std::vector<uint64_t> out;
    std::istringstream in(sandglass({"events", "--json", "--sandbox", "s"}).run(120'000).out);
    uint64_t seq = 0;
    for (std::string text; std::getline(in, text);) {
      const auto event = nlohmann::json::parse(text);
      EXPECT_EQ(event.at("value").at("seq"), ++seq);
      if (event.at("name") == "sandbox.file") out.push_back(seq);
    }
    return out;
  }
  // Each journaled event was taken at least once, and what follows an event is the next one, or,
  // after a restart or a refusal, one that came before and is marked.
  void expect_all_delivered() const {
    const std::vector<uint64_t> all = journal();
    size_t next = 0, top = 0;  // places in `all`
    for (const Line& line : ledger()) {
      const auto at = std::lower_bound(all.begin(), all.end(), line.seq);
      ASSERT_TRUE(at != all.end() && *at == line.seq) << line.seq << " is not in the journal";
      const auto place = static_cast<size_t>(at - all.begin());
      ASSERT_LE(place, next) << "something was left out before " << line.seq;
      ASSERT_TRUE(line.replay || place >= top) << line.seq;
      next = place + 1;
      top = std::max(top, next);
    }
    EXPECT_EQ(top, all.size());
  }
  nlohmann::json status() const {
    return nlohmann::json::parse(sandglass({"status", "--json"}).run().out).at("sandboxes").at(0);
  }
};

TEST(DurableHook, EveryEventOnce_InOrder_OverTwoRuns) {  // H7
  Durable product;
  EXPECT_EQ(product.go("for i in 1 2 3; do echo $i > f$i; done").output.code, 0);
  EXPECT_EQ(product.go("rm f1; echo x >> f2").output.code, 0);
  product.expect_all_delivered();
  for (const Line& line : product.ledger()) EXPECT_FALSE(line.replay);
  EXPECT_TRUE(product.status().at("owed").empty());
}

TEST(DurableHook, RefusedForAWhile_IsOfferedAgain_AndNothingOvertakes) {  // H7
  Durable product;
  product.define("durable", ", refuse: '" + (product.dir() / "no") + "'");
  product.dir().write("no", "");
  const Ran ran = product.go("touch a b; sleep 0.3; rm ../no; touch c");
  EXPECT_EQ(ran.output.code, 0);
  EXPECT_THAT(ran.output.err, HasSubstr("it gets this event again until it takes it"));
  EXPECT_THAT(ran.output.err, HasSubstr("refusals"));
  const auto lines = product.ledger();
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_TRUE(lines[0].replay);
  EXPECT_FALSE(lines[2].replay);
  product.expect_all_delivered();
}

TEST(DurableHook, RefusedToTheEnd_IsKept_AndDeliveredByTheNextRun) {  // H7
  Durable product;
  product.define("durable", ", refuse: '" + (product.dir() / "no") + "'");
  product.dir().write("no", "");
  const Ran ran = product.go("touch a b");
  EXPECT_EQ(ran.output.code, 0);
  EXPECT_THAT(ran.output.err, HasSubstr("events did not reach ledger yet; they are kept for it"));
  EXPECT_TRUE(product.ledger().empty());
  EXPECT_EQ(product.status().at("state"), "destroyed");
  EXPECT_GE(product.status().at("owed").at("ledger"), 2);
  const Output purge = product.sandglass({"rm", "--purge", "s"}).run();
  EXPECT_EQ(purge.code, 1);
  EXPECT_THAT(purge.err, HasSubstr("ledger"));
  std::filesystem::remove(product.dir() / "no");
  EXPECT_EQ(product.go("touch c").output.code, 0);
  const auto lines = product.ledger();
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_TRUE(lines[0].replay && lines[1].replay);
  EXPECT_FALSE(lines[2].replay);
  product.expect_all_delivered();
  EXPECT_TRUE(product.status().at("owed").empty());
}

TEST(DurableHook, LateEvents_AreComparedWithTheBaselineOfTheirOwnBox) {  // H7, B1
  Durable product;
  product.repository("echo one > f");
  product.commit_all();
  product.define("durable", ", before: true, refuse: '" + (product.dir() / "no") + "'");
  product.dir().write("no", "");
  EXPECT_EQ(product.go("echo two > f").output.code, 0);
  product.commit_all();
  std::filesystem::remove(product.dir() / "no");
  EXPECT_EQ(product.go("echo three > f").output.code, 0);
  const auto lines = product.ledger();
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].before, "one");
  EXPECT_EQ(lines[1].before, "two");
}

TEST(DurableHook, RefusedForGood_IsSetAsideWithARecord) {  // H7
  Durable product;
  const Ran ran = product.go("touch a b.bad c");
  EXPECT_EQ(ran.output.code, 0);
  EXPECT_THAT(ran.output.err, HasSubstr("it is set aside: never that one"));
  const auto lines = product.ledger();
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[1].path, "c");
  const std::string events = product.sandglass({"events", "--json", "--sandbox", "s"}).run().out;
  EXPECT_THAT(events, HasSubstr("sandbox.hook.aside"));
  EXPECT_TRUE(product.status().at("owed").empty());
}

TEST(DurableHook, NoLongerDefined_IsSaidWithWhatItMissed) {  // H7
  Durable product;
  product.define("durable", ", refuse: '" + (product.dir() / "no") + "'");
  product.dir().write("no", "");
  EXPECT_EQ(product.go("echo 1 > a").output.code, 0);
  product.define("durable", "", "other");
  const Ran ran = product.go("true");
  EXPECT_THAT(ran.output.err, HasSubstr("the durable hook ledger is no longer defined"));
  EXPECT_THAT(product.sandglass({"events", "--json", "--sandbox", "s"}).run().out,
              HasSubstr("sandbox.hook.dropped"));
  EXPECT_FALSE(product.status().at("owed").contains("ledger"));
}

TEST(DurableHook, WithoutANameOrWithOneTwice_IsRefusedWithItsPlace) {  // H7, D5
  Durable product;
  product.dir().write("c.yaml",
                      "version: 1\nsandboxes:\n  s:\n    hooks:\n      onFile:\n"
                      "        - {use: log, delivery: durable}\n"
                      "        - {use: log, name: a, delivery: durable}\n"
                      "      onReady: {use: log, name: a, delivery: durable}\n");
  const Output done = product.sandglass({"check", product.dir() / "c.yaml"}).run();
  EXPECT_EQ(done.code, 2);
  EXPECT_THAT(done.err, HasSubstr("c.yaml:6:32: sandboxes.s.hooks.onFile[0].delivery"));
  EXPECT_THAT(done.err, HasSubstr("c.yaml:8:33: sandboxes.s.hooks.onReady.name"));
  EXPECT_THAT(done.err, HasSubstr("c.yaml:7:28"));
}

// Case D2's basis: kill -9 in the middle of 10,000 events, again and again.
TEST(DurableHook, HostKilled50Times_EachEventAtLeastOnce_NoGap) {  // H7, D2
  const char* asked = std::getenv("SANDGLASS_TEST_KILLS");
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  const int usual = 15;  // each takes several times as long
#else
  const int usual = 50;
#endif
  const int rounds = asked ? std::atoi(asked) : usual;
  Durable product;
  const auto seed = std::random_device{}();
  RecordProperty("seed", std::to_string(seed));
  std::mt19937 random(seed);
  const std::string script =
      "touch ../began; i=0; while [ $i -lt 10000 ]; do : > f$i; i=$((i+1)); done";
  for (int round = 0; round < rounds; round++) {
    std::filesystem::remove(product.dir() / "began");
    product.sh("rm -rf f*");
    Background run({SANDGLASS, "--state-dir", product.state(), "run", "--config",
                    product.dir() / "c.yaml", "--", "sh", "-c", script},
                   product.workspace(), product.dir() / "log");
    ASSERT_TRUE(eventually([&] { return std::filesystem::exists(product.dir() / "began"); }))
        << product.dir().read("log");
    std::this_thread::sleep_for(
        std::chrono::microseconds(std::uniform_int_distribution<int>(0, 400'000)(random)));
    run.end(SIGKILL);
  }
  const Ran last = product.go("true");
  ASSERT_EQ(last.output.code, 0) << last.output.err;
  EXPECT_TRUE(product.status().at("owed").empty()) << product.status();
  EXPECT_GT(product.journal().size(), 1000u) << "seed " << seed;
  product.expect_all_delivered();
}

}  // namespace
}  // namespace sandglass::testing
