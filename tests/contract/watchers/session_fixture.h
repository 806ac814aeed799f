// A session with a shipped watcher over a directory of its own: inotify, or what the program was
// built for.
#pragma once

#include <fcntl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "plugin/registry.h"
#include "support/temp_dir.h"
#include "unit/watch/random_ops.h"
#include "unit/watch/replica.h"
#include "watch/session.h"

namespace sandglass::watch::testing {

using Lines = std::vector<std::string>;
constexpr int kLongMs = 30'000;  // a deadline, never waited for in full

#ifndef SANDGLASS_WATCHER_NAME
#define SANDGLASS_WATCHER_NAME "inotify"
#endif

// Sees what it sees by looking, now and then.
constexpr bool kPolls = std::string_view(SANDGLASS_WATCHER_NAME) == "poll";

inline const plugin::Registry& registry() {
  static const plugin::Registry registry({{SANDGLASS_WATCHER, "", "test"}});
  return registry;
}

inline std::shared_ptr<plugin::Instance> make_watcher(plugin::HostServices services = {}) {
  auto type = registry().find(SG_KIND_WATCHER, SANDGLASS_WATCHER_NAME);
  if (!type) throw std::runtime_error(type.error().text);
  auto instance = plugin::Instance::create(**type, SANDGLASS_WATCHER_NAME, config::Value{},
                                           std::move(services));
  if (!instance) throw std::runtime_error(instance.error().text);
  return *instance;
}

// Why the watcher cannot work below `directory` on this machine, or "".
inline std::string unwatchable(const std::string& directory) {
  if (kPolls) return {};
  const auto watcher = make_watcher({});
  const auto methods = watcher->methods<sg_watcher>();
  if (!methods.probe) return {};
  sg_watch_target target{};
  target.struct_size = sizeof target;
  target.local_root = {reinterpret_cast<const uint8_t*>(directory.data()), directory.size()};
  plugin::Call call({});
  const Status probed =
      watcher->call(call, [&](void* self) { return methods.probe(self, call.abi(), &target); });
  return probed ? "" : probed.error().text;
}

class SessionTest : public ::testing::Test {
 protected:
  SessionTest() : root_(dir_ / "root") { ::mkdir(root_.c_str(), 0755); }

  void SetUp() override {
    if (const std::string why = unwatchable(root_); !why.empty()) GTEST_SKIP() << why;
  }

  void start(const std::vector<std::string>& ignore = {".git", "node_modules"}) {
    ignore_ = ignore;
    replica_ = std::make_unique<Replica>(root_, ignore);
    auto session = Session::start(
        make_watcher(services()), target(), [this](std::vector<FileChange> batch) { take(batch); },
        kLongMs);
    ASSERT_TRUE(session) << session.error().text;
    session_ = std::move(*session);
  }
  // A poll looks when it is flushed, so that no test depends on when else it looked.
  virtual Target target() const {
    Target target;
    target.ignore = ignore_;
    target.sandbox_id = "s";
    target.local_root = root_;
    target.interval_ms = kPolls ? 600'000 : 20;
    return target;
  }
  // Commands for sandbox "s" run in the root, for another in the directory of its name.
  virtual plugin::HostServices services() const {
    plugin::HostServices out;
    out.exec = [this](sg_call* call, std::string_view id, const sg_exec* exec, sg_io* io,
                      sg_exit* end) {
      return plugin::exec_in(id == "s" ? root_ : at(std::string(id)))(call, id, exec, io, end);
    };
    return out;
  }
  void TearDown() override {
    if (!session_) return;
    auto stopped = session_->stop(kLongMs);
    EXPECT_TRUE(stopped) << stopped.error().text;
    EXPECT_EQ(replica_->difference(), "");
  }

  // Everything until now has come; what it was. A file met while its writer was held up by the
  // machine is a create and a change: said as the create alone, so that no test depends on speed.
  Lines flushed() {
    auto done = session_->flush(kLongMs);
    EXPECT_TRUE(done) << done.error().text;
    Lines lines = replica_->take_log();
    const Lines all = lines;
    std::erase_if(lines, [&](const std::string& line) {
      return line.starts_with("change ") &&
             std::find(all.begin(), all.end(), "create " + line.substr(7)) != all.end();
    });
    return lines;
  }
  std::string mode() const { return nlohmann::json::parse(session_->state_json())["mode"]; }
  Lines sorted() {
    Lines lines = flushed();
    std::sort(lines.begin(), lines.end());
    return lines;
  }

  std::string at(const std::string& path) const { return root_ + "/" + path; }
  void write(const std::string& path, const std::string& bytes) {
    dir_.write("root/" + path, bytes);
  }
  void rename(const std::string& from, const std::string& to, unsigned flags = 0) {
    ASSERT_EQ(::syscall(SYS_renameat2, AT_FDCWD, at(from).c_str(), AT_FDCWD, at(to).c_str(), flags),
              0);
  }
  void mkdir(const std::string& path) { ASSERT_EQ(::mkdir(at(path).c_str(), 0755), 0); }

  virtual void take(const std::vector<FileChange>& batch) { replica_->apply(batch); }

  sandglass::testing::TempDir dir_;
  const std::string root_;
  std::vector<std::string> ignore_;
  std::unique_ptr<Replica> replica_;
  std::unique_ptr<Session> session_;
};

}  // namespace sandglass::watch::testing
