// What a watcher may ask of its box: commands and files there, nowhere else, and no longer than its
// own call lasts.
#include <gtest/gtest.h>

#include <cstring>

#include "base/clock.h"
#include "plugin/registry.h"
#include "sandbox/provider.h"
#include "support/temp_dir.h"

namespace sandglass::sandbox {
namespace {

sg_bytes bytes(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

struct Heard : sg_io {
  std::string out;
  std::function<void()> on_output;
  Heard() : sg_io{} {
    struct_size = sizeof(sg_io);
    read_fd = -1;
    write = [](sg_io* io, int32_t, const void* data, size_t len) -> sg_status {
      auto& me = *static_cast<Heard*>(io);
      me.out.append(static_cast<const char*>(data), len);
      if (me.on_output) std::exchange(me.on_output, nullptr)();
      return SG_OK;
    };
  }
};

class Lend : public ::testing::Test {
 protected:
  Lend() : registry_({{SANDGLASS_PROVIDER, "", "test"}}) {
    config::Use local;
    local.name = "local";
    local.with = config::Value::make_map();
    auto opened = Provider::open(registry_, local);
    if (!opened) throw std::runtime_error(opened.error().text);
    provider_ = std::move(*opened);
    CreateSpec spec;
    spec.key = "key";
    spec.owner = "owner";
    spec.root = "/workspace";
    spec.local_root = dir_.path();
    spec.json = "{}";
    Cancellation never;
    const Status made = provider_->create(spec, id_, never, 0);
    if (!made) throw std::runtime_error(made.error().text);
    lent_ = provider_->lend("box-1", id_);
  }
  sg_status exec(plugin::Call& call, const std::string& sandbox, std::vector<std::string> argv) {
    std::vector<sg_bytes> words;
    for (const std::string& word : argv) words.push_back(bytes(word));
    const std::string root = "/workspace";
    sg_exec what{};
    what.struct_size = sizeof what;
    what.argv = words.data();
    what.argc = words.size();
    what.cwd = bytes(root);
    end_.struct_size = sizeof end_;
    return lent_.exec(call.abi(), sandbox, &what, &heard_, &end_);
  }

  testing::TempDir dir_;
  plugin::Registry registry_;
  std::unique_ptr<Provider> provider_;
  std::string id_;
  plugin::HostServices lent_;
  Heard heard_;
  sg_exit end_{};
};

TEST_F(Lend, Exec_RunsInTheBox) {  // W1
  dir_.write("f", "here");
  plugin::Call call({"box-1", 0, nullptr});
  EXPECT_EQ(exec(call, "box-1", {"cat", "f"}), SG_OK);
  EXPECT_EQ(heard_.out, "here");
  EXPECT_EQ(end_.how, uint32_t{SG_EXIT_CODE});
}

TEST_F(Lend, AnotherSandbox_IsDenied) {
  plugin::Call call({"box-1", 0, nullptr});
  EXPECT_EQ(exec(call, "box-2", {"true"}), SG_E_DENIED);
  EXPECT_NE(call.error(SG_E_DENIED).text.find("box-2"), std::string::npos);
}

TEST_F(Lend, CallThatIsCancelled_EndsTheCommand) {
  plugin::Call call({"box-1", 0, nullptr});
  heard_.on_output = [&] { call.cancel(); };
  EXPECT_EQ(exec(call, "box-1", {"sh", "-c", "echo started; sleep 60"}), SG_E_CANCELLED);
}

TEST_F(Lend, DeadlineOfTheCall_EndsTheCommand) {
  plugin::Call call({"box-1", mono_ns() + 50'000'000, nullptr});
  EXPECT_EQ(exec(call, "box-1", {"sleep", "60"}), SG_E_TIMEOUT);
}

TEST_F(Lend, ReadsAFile_AndOutlivesTheProvider) {
  dir_.write("f", "here");
  provider_.reset();
  struct Out : sg_out {
    std::string text;
  } out;
  out.struct_size = sizeof(sg_out);
  out.append = [](sg_out* to, const void* data, size_t len) -> sg_status {
    static_cast<Out*>(to)->text.append(static_cast<const char*>(data), len);
    return SG_OK;
  };
  plugin::Call call({"box-1", 0, nullptr});
  const std::string path = "/workspace/f";
  EXPECT_EQ(lent_.read(call.abi(), "box-1", bytes(path), 0, 100, &out), SG_OK);
  EXPECT_EQ(out.text, "here");
  lent_ = {};
}

}  // namespace
}  // namespace sandglass::sandbox
