// Several runs in one sandbox, through the library: each is told its own changes (rule W11).
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/clock.h"
#include "sandbox/run.h"
#include "sandbox/sandbox.h"
#include "support/temp_dir.h"

namespace sandglass::sandbox {
namespace {

class Runs : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(workspace());
    registry_ = std::make_unique<plugin::Registry>(
        std::vector<plugin::PluginFile>{{SANDGLASS_PLUGINS "/provider-local.so", "", "test"},
                                        {SANDGLASS_PLUGINS "/watcher-fanotify.so", "", "test"}});
    auto store = Store::open(dir_ / "state");
    ASSERT_TRUE(store);
    store_ = std::make_unique<Store>(std::move(*store));
    Settings settings;
    settings.definition = config::default_definition();
    settings.definition.hooks.clear();
    settings.definition.file_events.watcher = "fanotify";
    settings.workspace = workspace();
    auto box = Sandbox::ensure(*registry_, *store_, std::move(settings), cancel_);
    if (!box && box.error().text.find("fanotify") != std::string::npos)
      GTEST_SKIP() << box.error().text;
    ASSERT_TRUE(box) << box.error().text;
    box_ = std::move(*box);
  }
  void TearDown() override {
    if (!box_) return;
    EXPECT_TRUE(box_->destroy());
  }
  std::string workspace() const { return dir_ / "ws"; }

  // On a thread of its own.
  std::thread begin(const std::string& id, const std::string& script) {
    return std::thread([this, id, script] {
      RunRequest request;
      request.run_id = id;
      request.exec.argv = {"sh", "-c", script};
      request.exec.cwd = "";
      ExecIo io;
      Cancellation cancel;
      auto ended = run(*box_, std::move(request), io, cancel);
      EXPECT_TRUE(ended) << ended.error().text;
      EXPECT_EQ(ended ? ended->exit.value : -1, 0);
    });
  }
  // The newest event of each path.
  std::map<std::string, Event> events() {
    (void)box_->settle(10'000);
    std::map<std::string, Event> out;
    auto cursor = box_->journal().subscribe(0);
    while (cursor->position() < box_->journal().last_seq())
      for (const EventPtr& event : cursor->next(1024, 1'000))
        if (is_file(event->kind)) out[event->path] = *event;
    return out;
  }

  testing::TempDir dir_;
  std::unique_ptr<plugin::Registry> registry_;
  std::unique_ptr<Store> store_;
  Cancellation cancel_;
  std::unique_ptr<Sandbox> box_;
};

constexpr const char* kWait = "until [ -e %s ]; do sleep 0.01; done; ";

std::string wait_for(const std::string& name) {
  std::string out = kWait;
  return out.replace(out.find("%s"), 2, name);
}

TEST_F(Runs, TwoAtOnce_EachGetsItsOwnChanges) {  // W3, W11
  std::thread one = begin("run-1", "echo > one-here; " + wait_for("two-here") +
                                       "for i in 1 2 3 4 5; do cp one-here one-$i; done");
  std::thread two = begin("run-2", "echo > two-here; " + wait_for("one-here") +
                                       "for i in 1 2 3 4 5; do (echo > two-$i); done");
  one.join();
  two.join();
  const auto all = events();
  EXPECT_EQ(all.size(), 12u);
  for (const auto& [path, event] : all) {
    EXPECT_EQ(event.actor.kind, ActorKind::run) << path;
    EXPECT_EQ(event.run_id, path.starts_with("one") ? "run-1" : "run-2") << path;
  }
}

// Both write before either closes: one event, never said to be of one of them alone.
TEST_F(Runs, FileOfBoth_IsUnattributed_WithBothAsCandidates) {  // W11
  bool seen = false;
  for (int i = 0; i < 20 && !seen; ++i) {
    const std::string n = std::to_string(i), open = "exec 3>>both" + n + "; echo > ";
    const std::string write = "; until [ -e go" + n + " ]; do :; done; echo x >&3; sleep 0.1";
    std::thread one = begin("run-1", open + "one" + n + write);
    std::thread two = begin("run-2", open + "two" + n + write);
    const int64_t end = mono_ns() + int64_t{30} * 1'000'000'000;
    for (const char* who : {"/one", "/two"})
      while (!std::filesystem::exists(workspace() + who + n) && mono_ns() < end)
        std::this_thread::yield();
    std::ofstream(workspace() + "/go" + n);
    one.join();
    two.join();
    (void)box_->settle(10'000);
    auto cursor = box_->journal().subscribe(0);
    while (cursor->position() < box_->journal().last_seq())
      for (const EventPtr& event : cursor->next(1024, 1'000)) {
        if (event->path != "both" + n || event->actor.kind != ActorKind::unattributed) continue;
        auto candidates = nlohmann::json::parse(event->json).get<std::vector<std::string>>();
        std::sort(candidates.begin(), candidates.end());
        seen |= candidates == std::vector<std::string>{"run-1", "run-2"};
        EXPECT_EQ(event->run_id, "");
      }
  }
  EXPECT_TRUE(seen);
}

}  // namespace
}  // namespace sandglass::sandbox
