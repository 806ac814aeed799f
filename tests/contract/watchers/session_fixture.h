// A session with a shipped watcher over a directory of its own.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "plugin/registry.h"
#include "support/temp_dir.h"
#include "unit/watch/random_ops.h"
#include "unit/watch/replica.h"
#include "watch/session.h"

namespace sandglass::watch::testing {

using Lines = std::vector<std::string>;
constexpr int kLongMs = 30'000;  // a deadline, never waited for in full

// Each test program says which watcher it is for: under_test.cc.
struct UnderTest {
  const char* file;
  const char* name;
  bool polls;          // sees what it sees by looking, now and then
  bool loses_nothing;  // no queue of its own overflows
  bool needs_rights;   // and skips, naming them, where it lacks them; others must be able to watch
};
extern const UnderTest kUnderTest;

std::shared_ptr<plugin::Instance> make_watcher(plugin::HostServices services = {});
// Why the watcher cannot work below `directory` on this machine, or "".
std::string unwatchable(const std::string& directory);

class SessionTest : public ::testing::Test {
 protected:
  SessionTest();
  ~SessionTest() override;

  void SetUp() override;
  void TearDown() override;

  void start(const std::vector<std::string>& ignore = {".git", "node_modules"});
  // A poll looks when it is flushed, so that no test depends on when else it looked.
  virtual Target target() const;
  // Commands for sandbox "s" run in the root, for another in the directory of its name.
  virtual plugin::HostServices services() const;
  virtual void take(const std::vector<FileChange>& batch) { replica_->apply(batch); }

  // Everything until now has come; what it was. A file met while its writer was held up by the
  // machine is a create and a change: said as the create alone, so that no test depends on speed.
  Lines flushed();
  Lines sorted();
  std::string mode() const;

  std::string at(const std::string& path) const { return root_ + "/" + path; }
  void write(const std::string& path, const std::string& bytes) {
    dir_.write("root/" + path, bytes);
  }
  void rename(const std::string& from, const std::string& to, unsigned flags = 0);
  void mkdir(const std::string& path);

  sandglass::testing::TempDir dir_;
  const std::string root_;
  std::vector<std::string> ignore_;
  std::unique_ptr<Replica> replica_;
  std::unique_ptr<Session> session_;
};

}  // namespace sandglass::watch::testing
