// A provider for tests: each box is a copy of the workspace in a folder of its own. It keeps
// everything on disk, so it knows its boxes again in another process, and takes snapshots.
//
//     <folder>/boxes/<n>/{meta,files}  <folder>/snapshots/<n>/{meta,files}
//     <folder>/log                     one line a call: "create 1", "destroy 1", ...
//     <folder>/die-in-create           there: the host is killed once the next box is made
//     <folder>/no-list                 there: list() fails
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sandglass/plugin.hpp>

namespace {

namespace fs = std::filesystem;
using sandglass::Call;
using sandglass::Error;
using sandglass::view;

class Copies {
 public:
  static constexpr uint64_t capabilities =
      SG_CAP_STDIN | SG_CAP_KILL | SG_CAP_SNAPSHOT | SG_CAP_DURABLE_DISK | SG_CAP_LOCAL_PATH;
  static constexpr const char* config_schema =
      R"({"type": "object", "required": ["folder"], "additionalProperties": false,
          "properties": {"folder": {"type": "string"}}})";

  Copies(sandglass::Host host, const sandglass::Config& config)
      : host_(host), folder_(std::string(config.text("/folder"))) {
    fs::create_directories(folder_ / "boxes");
    fs::create_directories(folder_ / "snapshots");
  }

  void create(Call, const sg_sandbox_spec& spec, sandglass::Out id) {
    const fs::path from = spec.snapshot.len ? folder_ / "snapshots" / view(spec.snapshot) / "files"
                                            : fs::path(std::string(view(spec.local_root)));
    const std::string name = keep("boxes", from, view(spec.key), view(spec.owner));
    note("create " + name + (spec.snapshot.len ? " from " + std::string(view(spec.snapshot)) : ""));
    if (fs::remove(folder_ / "die-in-create")) ::kill(::getpid(), SIGKILL);
    id.append(name);
  }
  void destroy(Call, std::string_view id) {
    note("destroy " + std::string(id));
    fs::remove_all(folder_ / "boxes" / id);
  }
  void resume(Call, std::string_view id) {
    (void)box(id);
    note("resume " + std::string(id));
  }
  sg_status exec(Call call, std::string_view id, const sg_exec& what, sandglass::Io io,
                 sg_exit& end) {
    const auto* processes = host_.service<sg_process_service>(SG_SERVICE_PROCESS);
    const std::string directory = box(id).string();
    sg_exec local = what;
    local.cwd = sandglass::bytes(directory);
    return processes->run(host_.abi(), call.abi(), &local, io.abi(), &end);
  }
  void list(Call, std::string_view owner, sandglass::HeldSink sink) {
    if (fs::exists(folder_ / "no-list")) throw Error(SG_E_BUSY, "ask me later");
    tell("boxes", owner, SG_HELD_RUNNING, sink);
  }
  void wait_gone(Call call, std::string_view id) {
    while (fs::exists(folder_ / "boxes" / id)) call.sleep(50);
  }
  void local_path(Call, std::string_view id, sandglass::Out path) { path.append(box(id).string()); }
  void snapshot(Call, std::string_view id, sandglass::Out out) {
    const fs::path meta = folder_ / "boxes" / id / "meta";
    std::string key, owner;
    std::ifstream(meta) >> key >> owner;
    const std::string name = keep("snapshots", box(id), key, owner);
    note("snapshot " + name + " of " + std::string(id));
    out.append(name);
  }
  void snapshots(Call, std::string_view owner, sandglass::HeldSink sink) {
    tell("snapshots", owner, SG_HELD_SNAPSHOT, sink);
  }
  void snapshot_delete(Call, std::string_view id) {
    note("snapshot_delete " + std::string(id));
    fs::remove_all(folder_ / "snapshots" / id);
  }

 private:
  fs::path box(std::string_view id) const {
    const fs::path files = folder_ / "boxes" / id / "files";
    if (!fs::exists(files)) throw Error(SG_E_NOT_FOUND, "there is no box " + std::string(id));
    return files;
  }
  std::string keep(const char* kind, const fs::path& from, std::string_view key,
                   std::string_view owner) {
    std::lock_guard lock(mutex_);
    const fs::path counter = folder_ / "counter";
    int number = 0;
    std::ifstream(counter) >> number;
    const std::string name = std::to_string(++number);
    std::ofstream(counter, std::ios::trunc) << number;
    fs::create_directories(folder_ / kind / name);
    fs::copy(from, folder_ / kind / name / "files",
             fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    std::ofstream(folder_ / kind / name / "meta") << key << ' ' << owner << '\n';
    return name;
  }
  void tell(const char* kind, std::string_view owner, uint32_t state,
            const sandglass::HeldSink& sink) const {
    for (const auto& entry : fs::directory_iterator(folder_ / kind)) {
      std::string key, of;
      std::ifstream(entry.path() / "meta") >> key >> of;
      if (of != owner) continue;
      const std::string id = entry.path().filename().string();
      const auto age =
          fs::file_time_type::clock::now() - fs::last_write_time(entry.path() / "meta");
      const auto made = std::chrono::system_clock::now() - age;
      sg_held held{};
      held.struct_size = sizeof held;
      held.state = state;
      held.id = {id.data(), id.size()};
      held.key = {key.data(), key.size()};
      held.owner = {of.data(), of.size()};
      held.created_ns =
          std::chrono::duration_cast<std::chrono::nanoseconds>(made.time_since_epoch()).count();
      sink.add(held);
    }
  }
  void note(const std::string& line) const {
    std::ofstream(folder_ / "log", std::ios::app) << line << '\n';
  }

  sandglass::Host host_;
  const fs::path folder_;
  std::mutex mutex_;
};

}  // namespace

SANDGLASS_PLUGIN("test.copies", "1.0.0",
                 sandglass::provider<Copies>("copies", "Copies of a directory"))
