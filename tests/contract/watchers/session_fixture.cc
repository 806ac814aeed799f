#include "contract/watchers/session_fixture.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace sandglass::watch::testing {

std::shared_ptr<plugin::Instance> make_watcher(plugin::HostServices services) {
  static const plugin::Registry registry({{kUnderTest.file, "", "test"}});
  auto type = registry.find(SG_KIND_WATCHER, kUnderTest.name);
  if (!type) throw std::runtime_error(type.error().text);
  auto instance =
      plugin::Instance::create(**type, kUnderTest.name, config::Value{}, std::move(services));
  if (!instance) throw std::runtime_error(instance.error().text);
  return *instance;
}

std::string unwatchable(const std::string& directory) {
  if (kUnderTest.polls) return {};
  const auto watcher = make_watcher();
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

SessionTest::SessionTest() : root_(dir_ / "root") {
  ::mkdir(root_.c_str(), 0755);
}
SessionTest::~SessionTest() = default;

void SessionTest::SetUp() {
  const std::string why = unwatchable(root_);
  if (!why.empty() && kUnderTest.needs_rights) GTEST_SKIP() << why;
  ASSERT_EQ(why, "");
}

void SessionTest::TearDown() {
  if (!session_) return;
  const auto stopped = session_->stop(kLongMs);
  EXPECT_TRUE(stopped) << stopped.error().text;
  EXPECT_EQ(replica_->difference(), "");
}

void SessionTest::start(const std::vector<std::string>& ignore) {
  ignore_ = ignore;
  replica_ = std::make_unique<Replica>(root_, ignore);
  auto session = Session::start(
      make_watcher(services()), target(), [this](std::vector<FileChange> batch) { take(batch); },
      kLongMs);
  ASSERT_TRUE(session) << session.error().text;
  session_ = std::move(*session);
}

Target SessionTest::target() const {
  Target target;
  target.ignore = ignore_;
  target.sandbox_id = "s";
  target.local_root = root_;
  target.interval_ms = kUnderTest.polls ? 600'000 : 20;
  return target;
}

plugin::HostServices SessionTest::services() const {
  plugin::HostServices out;
  out.exec = [this](sg_call* call, std::string_view id, const sg_exec* exec, sg_io* io,
                    sg_exit* end) {
    return plugin::exec_in(id == "s" ? root_ : at(std::string(id)))(call, id, exec, io, end);
  };
  return out;
}

Lines SessionTest::flushed() {
  const auto done = session_->flush(kLongMs);
  EXPECT_TRUE(done) << done.error().text;
  Lines lines = replica_->take_log();
  const Lines all = lines;
  std::erase_if(lines, [&](const std::string& line) {
    return line.starts_with("change ") &&
           std::find(all.begin(), all.end(), "create " + line.substr(7)) != all.end();
  });
  return lines;
}

Lines SessionTest::sorted() {
  Lines lines = flushed();
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::string SessionTest::mode() const {
  return nlohmann::json::parse(session_->state_json())["mode"];
}

void SessionTest::rename(const std::string& from, const std::string& to, unsigned flags) {
  ASSERT_EQ(::syscall(SYS_renameat2, AT_FDCWD, at(from).c_str(), AT_FDCWD, at(to).c_str(), flags),
            0);
}

void SessionTest::mkdir(const std::string& path) {
  ASSERT_EQ(::mkdir(at(path).c_str(), 0755), 0);
}

}  // namespace sandglass::watch::testing
