// A provider plugin as the tests drive it: loaded from its file, called through its table.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sandglass/plugin.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "plugin/instance.h"
#include "plugin/registry.h"
#include "support/temp_dir.h"

namespace sandglass::contract {

#ifndef SANDGLASS_PROVIDERS
#define SANDGLASS_PROVIDERS "local"
#endif
inline const std::vector<std::string> kProviders = {SANDGLASS_PROVIDERS};

struct Ran {
  Status status;
  sg_exit exit{};
  std::string out, err;
  int pid = 0;
  double seconds = 0;
};

struct Entry {
  std::string name, target;
  char type = 0;
  uint32_t mode = 0;
  uint64_t size = 0;
};

struct Held {
  std::string id, key, owner;
  uint32_t state = 0;
};

struct Command {
  std::vector<std::string> argv;
  std::vector<std::string> env;
  std::string cwd, tag;
  bool tty = false;
  std::string input;  // given when not empty
  int64_t within_ms = 20'000;
  std::function<void(std::string_view out)> on_output;  // with all that came so far
};

inline Command shell(const std::string& line) {
  Command command;
  command.argv = {"sh", "-c", line};
  return command;
}

// One instance of a provider with one sandbox in a directory of its own.
class Box {
 public:
  explicit Box(const std::string& name, const std::string& secrets = "{}");
  ~Box();

  const std::string& id() const { return id_; }
  const testing::TempDir& dir() const { return *dir_; }
  testing::TempDir& dir() { return *dir_; }
  uint64_t capabilities() const { return table_.capabilities(instance_->self()); }
  const sg_provider& table() const { return table_; }

  Result<std::string> create(const std::string& local_root, const std::string& secrets = "{}",
                             const std::string& snapshot = "");
  Status destroy() { return destroy(id_); }
  Status destroy(const std::string& id);
  Status resume(const std::string& id);
  Result<std::string> local_path(const std::string& id);
  std::vector<Held> list(const std::string& owner);
  // `call` is the caller's, so that it can cancel.
  Status wait_gone(plugin::Call& call);
  Ran exec(const Command& command);
  Ran exec(const Command& command, plugin::Call& call);
  Status signal(const std::string& tag, int signo);
  Status resize(const std::string& tag, uint32_t rows, uint32_t columns);

  Result<Entry> stat(const std::string& path);
  Result<std::vector<Entry>> list_dir(const std::string& path);
  Result<std::string> read(const std::string& path, uint64_t offset = 0, uint64_t max = UINT64_MAX);
  // Fails half way with SG_E_CANCELLED where fail_after >= 0.
  Status write(const std::string& path, const std::string& bytes, uint32_t mode = 0644,
               char type = 'f', int fail_after = -1);
  Status remove(const std::string& path);

 private:
  Status call(const std::function<sg_status(void* self, sg_call* call)>& fn);

  std::unique_ptr<testing::TempDir> dir_;
  plugin::Registry registry_;
  std::shared_ptr<plugin::Instance> instance_;
  sg_provider table_{};
  std::string id_;
};

class Provider : public ::testing::TestWithParam<std::string> {
 protected:
  Box box{GetParam()};
};

// True as soon as a condition holds that another process brings about.
bool eventually(const std::function<bool()>& holds, int ms = 5000);

}  // namespace sandglass::contract
