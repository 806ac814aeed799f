// Sandboxes across processes: kept, resumed, replaced, reaped, removed (rules L4, L5, P2).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "e2e/background.h"
#include "e2e/product.h"

namespace sandglass::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// The product with boxes that are copies of the workspace.
class Boxes : public Product {
 public:
  explicit Boxes(const std::string& lifecycle) {
    define(lifecycle);
    repository("echo one > kept.txt");
    commit_all();
  }
  void define(const std::string& lifecycle, const std::string& more = "") const {
    dir().write("c.yaml", "version: 1\nplugins: [{file: '" COPIES "'}]\nsandboxes:\n  repo:\n" +
                              std::string("    provider: {use: copies, with: {folder: '") +
                              (dir() / "copies") + "'}}\n    lifecycle: " + lifecycle + "\n" +
                              more);
  }
  Ran go(const std::string& script, std::vector<std::string> options = {}) const {
    options.insert(options.begin(), {"--config", dir() / "c.yaml"});
    return run(script, options);
  }
  nlohmann::json status() const {
    const Output done = sandglass({"status", "--json"}).run();
    return nlohmann::json::parse(done.out).at("sandboxes");
  }
  nlohmann::json only_status() const {
    const auto all = status();
    EXPECT_EQ(all.size(), 1u) << all;
    return all.at(0);
  }
  // What the provider was asked to do.
  std::vector<std::string> calls() const {
    std::vector<std::string> out;
    std::istringstream in(dir().read("copies/log"));
    for (std::string line; std::getline(in, line);) out.push_back(line);
    return out;
  }
  std::vector<std::string> boxes() const {
    std::vector<std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator(dir() / "copies/boxes"))
      out.push_back(entry.path().filename());
    return out;
  }
  Background start(const std::string& script, std::vector<std::string> options = {}) const {
    std::vector<std::string> argv{SANDGLASS, "--state-dir", state(),
                                  "run",     "--config",    dir() / "c.yaml"};
    argv.insert(argv.end(), options.begin(), options.end());
    argv.insert(argv.end(), {"--", "sh", "-c", script});
    return Background(std::move(argv), workspace(), dir() / "log");
  }
  // Runs until the command in the box has begun, which touches `began` in the box it is in.
  void wait_until_begun(const std::string& box) const {
    ASSERT_TRUE(eventually([&] {
      return std::filesystem::exists(dir() / ("copies/boxes/" + box + "/files/began"));
    })) << dir().read("log");
  }
  std::string events() const { return sandglass({"events", "--json"}).run().out; }
};

const std::string kWait = "touch began; while :; do sleep 0.05; done";

TEST(Lifecycle, ReuseThread_SecondRunGoesOnInTheSameBox) {  // L4, L5, B1
  Boxes product("{reuse: thread}");
  const Ran first = product.go("echo two > made.txt");
  ASSERT_EQ(first.output.code, 0) << first.output.err;
  EXPECT_EQ(product.only_status().at("state"), "kept");
  product.sh("git -c user.name=t -c user.email=t@e commit -q --allow-empty -m later");
  const Ran second = product.go("cat made.txt; echo three >> kept.txt");
  ASSERT_EQ(second.output.code, 0) << second.output.err;
  EXPECT_THAT(second.output.out, HasSubstr("two"));
  EXPECT_EQ(second.files.size(), 1u);
  EXPECT_THAT(product.calls(), ElementsAre("create 1", "resume 1"));
  const auto status = product.only_status();
  EXPECT_EQ(status.at("state"), "kept");
  EXPECT_EQ(status.at("baseline"),
            nlohmann::json::parse(
                product.git("rev-parse HEAD^").out.insert(0, "\"").replace(41, 1, "\"")));
  // One journal, one numbering, and a word about the time in between.
  uint64_t seq = 0;
  std::istringstream lines(product.events());
  int rescans = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto event = nlohmann::json::parse(line);
    EXPECT_EQ(event.at("value").at("seq"), ++seq);
    rescans += event.at("name") == "sandbox.rescan";
  }
  EXPECT_EQ(rescans, 1);
  EXPECT_EQ(product.sandglass({"diff", "--name-only"}).run().out, "kept.txt\nmade.txt\n");
}

TEST(Lifecycle, ReuseNone_EachRunGetsABoxOfItsOwn_InOneJournal) {  // L5
  Boxes product("{reuse: none}");
  EXPECT_EQ(product.go("echo two > made.txt").output.code, 0);
  const Ran second = product.go("test ! -e made.txt && echo x > other.txt");
  EXPECT_EQ(second.output.code, 0) << second.output.err;
  EXPECT_THAT(product.calls(), ElementsAre("create 1", "destroy 1", "create 2", "destroy 2"));
  EXPECT_EQ(product.only_status().at("state"), "destroyed");
  EXPECT_TRUE(product.boxes().empty());
}

TEST(Lifecycle, Threads_HaveBoxesOfTheirOwn_AndRunAtOnce) {  // L4
  Boxes product("{reuse: thread}");
  Background a = product.start(kWait, {"--thread", "a"});
  product.wait_until_begun("1");
  const Ran b = product.go("test ! -e began", {"--thread", "b"});
  EXPECT_EQ(b.output.code, 0) << b.output.err;
  const Ran again = product.go("true", {"--thread", "a"});
  EXPECT_EQ(again.output.code, 125);
  EXPECT_THAT(again.output.err, HasSubstr("in use by another sandglass process"));
  EXPECT_EQ(a.end(SIGINT), 130);
  EXPECT_EQ(product.status().size(), 2u);
}

TEST(Lifecycle, Stopped_IsDestroyed_UnlessToldToKeep) {  // L5
  Boxes product("{reuse: thread}");
  for (const auto& [options, state] :
       {std::pair<std::vector<std::string>, std::string>{{}, "destroyed"}, {{"--keep"}, "kept"}}) {
    const std::string box = options.empty() ? "1" : "2";
    Background run = product.start(kWait, options);
    product.wait_until_begun(box);
    EXPECT_EQ(run.end(SIGTERM), 130);
    EXPECT_EQ(product.only_status().at("state"), state);
  }
  EXPECT_THAT(product.calls(), ElementsAre("create 1", "destroy 1", "create 2"));
}

TEST(Lifecycle, DestroyOnComplete_Destroys_AndKeepOverrides) {  // L5
  Boxes product("{reuse: thread, destroyOnComplete: true, keepAlive: 1h}");
  EXPECT_EQ(product.go("true").output.code, 0);
  EXPECT_EQ(product.only_status().at("state"), "destroyed");
  EXPECT_EQ(product.go("true", {"--keep"}).output.code, 0);
  EXPECT_EQ(product.only_status().at("state"), "kept");
  EXPECT_EQ(product.sandglass({"gc"}).run().out, "");
  EXPECT_EQ(product.only_status().at("state"), "kept");
}

TEST(Lifecycle, KeepWithoutReuse_IsRefused) {
  Boxes product("{reuse: none}");
  const Ran ran = product.go("true", {"--keep"});
  EXPECT_EQ(ran.output.code, 125);
  EXPECT_THAT(ran.output.err, HasSubstr("reuse: thread"));
}

TEST(Lifecycle, KeepAliveOver_TheNextRunOrGcDestroys) {  // L5
  Boxes product("{reuse: thread, keepAlive: 1s}");
  EXPECT_EQ(product.go("echo x > made.txt").output.code, 0);
  ASSERT_TRUE(eventually([&] { return product.only_status().at("state") == "left"; }));
  const Ran second = product.go("test ! -e made.txt");
  EXPECT_EQ(second.output.code, 0) << second.output.err;
  EXPECT_THAT(product.calls(), ElementsAre("create 1", "destroy 1", "create 2"));
  ASSERT_TRUE(eventually([&] { return product.only_status().at("state") == "left"; }));
  const Output dry =
      product.sandglass({"gc", "--dry-run", "--config", product.dir() / "c.yaml"}).run();
  EXPECT_THAT(dry.out, HasSubstr("would be destroyed: its time was over"));
  EXPECT_EQ(product.boxes().size(), 1u);
  const Output done = product.sandglass({"gc", "--config", product.dir() / "c.yaml"}).run();
  EXPECT_THAT(done.out, HasSubstr("destroyed: its time was over"));
  EXPECT_TRUE(product.boxes().empty());
  EXPECT_EQ(product.only_status().at("state"), "destroyed");
}

TEST(Lifecycle, BoxThatVanished_IsReplaced) {  // L4: attaching -gone-> resolving
  Boxes product("{reuse: thread}");
  EXPECT_EQ(product.go("echo x > made.txt").output.code, 0);
  std::filesystem::remove_all(product.dir() / "copies/boxes/1");
  const Ran second = product.go("test ! -e made.txt && echo y > other.txt");
  EXPECT_EQ(second.output.code, 0) << second.output.err;
  EXPECT_THAT(product.events(), HasSubstr(R"("event":"gone")"));
  EXPECT_EQ(product.sandglass({"diff", "--name-only"}).run().out, "other.txt\n");
}

TEST(Lifecycle, HostKilled_AnyNextRunReapsWhatItLeft) {  // L4, E6
  Boxes product("{reuse: none}");
  {
    Background run = product.start(kWait);
    product.wait_until_begun("1");
    EXPECT_EQ(run.end(SIGKILL), 128 + SIGKILL);
  }
  EXPECT_EQ(product.only_status().at("state"), "left");
  const std::string left = product.only_status().at("id");
  product.define("{reuse: none}", "  other:\n    provider: local\n");
  const Ran other = product.go("true", {"--sandbox", "other"});
  EXPECT_EQ(other.output.code, 0);
  EXPECT_TRUE(product.boxes().empty());
  const Output events = product.sandglass({"events", "--sandbox", left, "--json"}).run();
  EXPECT_THAT(events.out, HasSubstr("sandglass ended before the run did"));
  EXPECT_THAT(events.out, HasSubstr("left by a process that ended"));
  EXPECT_THAT(other.output.err, HasSubstr("not seen to its end"));
}

TEST(Lifecycle, LeftByAProviderThatIsNotLoaded_IsLeftAloneByRuns_AndToldByGc) {
  Boxes product("{reuse: none}");
  {
    Background run = product.start(kWait);
    product.wait_until_begun("1");
    run.end(SIGKILL);
  }
  const Output other = product.sandglass({"run", "--", "true"}).run();
  EXPECT_EQ(other.err.find("copies"), std::string::npos) << other.err;
  const Output gc = product.sandglass({"gc"}).run();
  EXPECT_EQ(gc.code, 1);
  EXPECT_THAT(gc.err, HasSubstr("there is no provider 'copies'"));
  EXPECT_EQ(product.boxes().size(), 1u);
}

TEST(Lifecycle, HostKilled_ReusedBoxGoesOn) {  // L4
  Boxes product("{reuse: thread}");
  {
    Background run = product.start("echo x > made.txt; " + kWait);
    product.wait_until_begun("1");
    run.end(SIGKILL);
  }
  const Ran second = product.go("cat made.txt");
  EXPECT_EQ(second.output.code, 0) << second.output.err;
  EXPECT_THAT(product.calls(), ElementsAre("create 1", "resume 1"));
}

TEST(Lifecycle, HostKilledInCreate_TheBoxIsFoundByTheProvidersList) {  // L4
  Boxes product("{reuse: thread}");
  product.dir().write("copies/die-in-create", "");
  EXPECT_EQ(product.start("true").wait(), 128 + SIGKILL);
  EXPECT_EQ(product.boxes().size(), 1u);
  EXPECT_EQ(product.go("true").output.code, 0);
  EXPECT_THAT(product.calls(), ElementsAre("create 1", "destroy 1", "create 2"));
  product.dir().write("copies/die-in-create", "");
  product.start("true", {"--thread", "x"}).wait();
  product.sandglass({"gc", "--config", product.dir() / "c.yaml"}).run();
  EXPECT_THAT(product.boxes(), ElementsAre("2"));
}

TEST(Lifecycle, ProviderThatCannotBeAsked_TheBoxIsNotForgotten) {  // L4
  Boxes product("{reuse: thread}");
  product.dir().write("copies/die-in-create", "");
  EXPECT_EQ(product.start("true").wait(), 128 + SIGKILL);
  product.dir().write("copies/no-list", "");
  const Ran refused = product.go("true");
  EXPECT_EQ(refused.output.code, 125);
  EXPECT_THAT(refused.output.err, HasSubstr("ask me later"));
  std::filesystem::remove(product.dir() / "copies/no-list");
  EXPECT_EQ(product.go("true").output.code, 0);
  EXPECT_THAT(product.calls(), ElementsAre("create 1", "destroy 1", "create 2"));
}

TEST(Lifecycle, SnapshotAfterRun_TheNextBoxStartsFromTheNewest) {  // L4, L5
  Boxes product("{reuse: none, snapshot: after-run}");
  EXPECT_EQ(product.go("echo 1 > a").output.code, 0);
  EXPECT_EQ(product.go("cat a && echo 2 > b").output.code, 0);
  EXPECT_EQ(product.go("cat a b").output.code, 0);
  EXPECT_THAT(product.calls(),
              ElementsAre("create 1", "snapshot 2 of 1", "destroy 1", "create 3 from 2",
                          "snapshot 4 of 3", "snapshot_delete 2", "destroy 3", "create 5 from 4",
                          "snapshot 6 of 5", "snapshot_delete 4", "destroy 5"));
}

TEST(Lifecycle, SnapshotAfterSetup_IsTakenOnce_AndTooOldIsNotUsed) {  // L5
  Boxes product("{reuse: none, snapshot: after-setup, snapshotMaxAge: 1s}");
  EXPECT_EQ(product.go("echo 1 > a").output.code, 0);
  EXPECT_THAT(product.events(), HasSubstr(R"("to":"imaging")"));
  ASSERT_TRUE(eventually([&] {
    const auto meta = std::filesystem::last_write_time(product.dir() / "copies/snapshots/2/meta");
    return std::filesystem::file_time_type::clock::now() - meta > std::chrono::milliseconds(1100);
  }));
  EXPECT_EQ(product.go("test ! -e a").output.code, 0);
  EXPECT_THAT(product.calls(), ElementsAre("create 1", "snapshot 2 of 1", "destroy 1", "create 3",
                                           "snapshot 4 of 3", "snapshot_delete 2", "destroy 3"));
}

TEST(Lifecycle, ProviderWithoutSnapshots_SaysSo) {
  Product product;
  product.dir().write("c.yaml",
                      "version: 1\nsandboxes:\n  t:\n    lifecycle: {snapshot: after-run}\n");
  const Ran ran = product.run("true", {"--config", product.dir() / "c.yaml"});
  EXPECT_EQ(ran.output.code, 0);
  EXPECT_THAT(ran.output.err, HasSubstr("takes no snapshots"));
}

TEST(Lifecycle, Rm_DestroysAKeptBox_PurgeForgetsIt) {
  Boxes product("{reuse: thread}");
  const std::string config = product.dir() / "c.yaml";
  EXPECT_EQ(product.go("echo x > made.txt").output.code, 0);
  EXPECT_EQ(product.sandglass({"rm", "nosuch"}).run().code, 1);
  const Output done = product.sandglass({"rm", "repo", "--config", config}).run();
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_TRUE(product.boxes().empty());
  EXPECT_EQ(product.only_status().at("state"), "destroyed");
  EXPECT_THAT(product.events(), HasSubstr("removed by hand"));
  const Output again = product.sandglass({"rm", "repo", "--config", config}).run();
  EXPECT_EQ(again.code, 1);
  EXPECT_THAT(again.err, HasSubstr("--purge"));
  EXPECT_EQ(product.sandglass({"rm", "--purge", "repo", "--config", config}).run().code, 0);
  EXPECT_TRUE(product.status().empty());
}

TEST(Lifecycle, Rm_OfARunningSandbox_IsRefused) {
  Boxes product("{reuse: thread}");
  Background run = product.start(kWait);
  product.wait_until_begun("1");
  const Output done = product.sandglass({"rm", "repo", "--config", product.dir() / "c.yaml"}).run();
  EXPECT_EQ(done.code, 1);
  EXPECT_THAT(done.err, HasSubstr("in use"));
  EXPECT_EQ(run.end(SIGINT), 130);
}

TEST(Lifecycle, Gc_RemovesOldJournals_AndTheOldestBeyondTheSize) {  // P2
  Product product;
  for (int i = 0; i < 3; i++) EXPECT_EQ(product.run("true").output.code, 0);
  uint64_t bytes = 0;
  for (const auto& file :
       std::filesystem::recursive_directory_iterator(product.state() + "/instances"))
    if (file.is_regular_file()) bytes += file.file_size();
  product.dir().write("c.yaml",
                      "version: 1\nretention: {size: " + std::to_string(bytes / 2) + " B}\n");
  auto count = [&] {
    return nlohmann::json::parse(product.sandglass({"status", "--json"}).run().out)
        .at("sandboxes")
        .size();
  };
  EXPECT_EQ(count(), 3u);
  const Output sized = product.sandglass({"gc", "--config", product.dir() / "c.yaml"}).run();
  EXPECT_THAT(sized.out, HasSubstr("take more room"));
  EXPECT_LT(count(), 3u);
  EXPECT_GT(count(), 0u);
  product.dir().write("c.yaml", "version: 1\nretention: {age: 1s}\n");
  EXPECT_TRUE(eventually([&] {
    product.sandglass({"gc", "--config", product.dir() / "c.yaml"}).run();
    return count() == 0;
  }));
}

TEST(Lifecycle, FailingHooks_NeverDestroyAKeptBox) {  // L3
  Boxes product("{reuse: thread}");
  product.define("{reuse: thread}",
                 "    hooks: {onReady: {use: command, with: {run: ['false']}}}\n");
  EXPECT_EQ(product.go("echo x > made.txt").output.code, 0);
  EXPECT_EQ(product.go("cat made.txt").output.code, 0);
  EXPECT_THAT(product.calls(), ElementsAre("create 1", "resume 1"));
}

}  // namespace
}  // namespace sandglass::testing
