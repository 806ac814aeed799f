// A session of the watcher that polls, with tools of the test's choice.
#pragma once

#include <set>

#include "contract/watchers/session_fixture.h"
#include "e2e/background.h"

namespace sandglass::watch::testing {

using sandglass::testing::eventually;

class PollTest : public SessionTest {
 protected:
  Target target() const override {
    Target target = SessionTest::target();
    target.interval_ms = interval_ms_;
    target.ignore = ignore_;
    return target;
  }
  // With a folder of tools, there are no others.
  plugin::HostServices services() const override {
    plugin::HostServices out = SessionTest::services();
    if (tools_.empty()) return out;
    out.exec = [exec = out.exec, path = "PATH=" + tools_](sg_call* call, std::string_view id,
                                                          const sg_exec* what, sg_io* io,
                                                          sg_exit* end) {
      std::vector<sg_bytes> env(what->env, what->env + what->envc);
      env.push_back({reinterpret_cast<const uint8_t*>(path.data()), path.size()});
      sg_exec own = *what;
      own.env = env.data();
      own.envc = env.size();
      return exec(call, id, &own, io, end);
    };
    return out;
  }
  void start() {
    SessionTest::start();
    if (session_) replica_->ignore(ignore_);
  }
  void take(const std::vector<FileChange>& batch) override {
    replica_->apply(batch);
    std::lock_guard lock(mutex_);
    for (const FileChange& one : batch) told_.insert(one.path);
  }

  // An empty folder as the only one where programs are looked for.
  void no_tools() {
    tools_ = dir_ / "tools";
    ::mkdir(tools_.c_str(), 0755);
  }
  void link_tool(const std::string& name, const std::string& to) {
    ASSERT_EQ(::symlink(to.c_str(), (tools_ + "/" + name).c_str()), 0);
  }
  void script_tool(const std::string& name, const std::string& script) {
    dir_.write("tools/" + name, "#!/bin/sh\n" + script);
    ASSERT_EQ(::chmod((tools_ + "/" + name).c_str(), 0755), 0);
  }

  int interval_ms_ = 600'000;
  std::vector<std::string> ignore_ = {".git", "node_modules"};
  std::string tools_;
  std::mutex mutex_;
  std::set<std::string> told_;
};

}  // namespace sandglass::watch::testing
