// The table of the local provider. See README.md.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <vector>

#include "box.h"
#include "files.h"
#include "gone.h"
#include "left.h"

namespace local {

using sandglass::Call;
using sandglass::Error;
using sandglass::view;

namespace {

std::string real_directory(std::string_view given) {
  if (given.empty()) {
    throw Error(SG_E_INVALID,
                "the local provider needs a directory of this machine: set workspace.source.local");
  }
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(std::string(given).c_str(), nullptr),
                                                    std::free);
  if (!real) throw errno_error(errno, "use the workspace directory", given);
  struct stat st;
  if (::stat(real.get(), &st) < 0) throw errno_error(errno, "use the workspace directory", given);
  if (!S_ISDIR(st.st_mode)) throw errno_error(ENOTDIR, "use the workspace directory", given);
  return real.get();
}

// "NAME=value" of each member of a JSON object of strings.
std::vector<std::string> variables_of(std::string_view secrets) {
  std::vector<std::string> out;
  if (secrets.empty()) return out;
  const auto json = nlohmann::json::parse(secrets, nullptr, false);
  if (!json.is_object()) throw Error(SG_E_INVALID, "secrets are not a JSON object of strings");
  for (const auto& [name, value] : json.items()) {
    if (!value.is_string())
      throw Error(SG_E_INVALID, "the secret " + shown(name) + " is not a string");
    out.push_back(name + "=" + value.get<std::string>());
  }
  return out;
}

// The real directory behind a descriptor.
std::string path_of(const Fd& fd) {
  std::array<char, PATH_MAX> path;
  const std::string link = "/proc/self/fd/" + std::to_string(fd.get());
  const ssize_t n = ::readlink(link.c_str(), path.data(), path.size());
  if (n < 0) throw errno_error(errno, "find the directory behind", link);
  return {path.data(), static_cast<size_t>(n)};
}

}  // namespace

class Local {
 public:
  static constexpr uint64_t capabilities = SG_CAP_BACKGROUND | SG_CAP_STDIN | SG_CAP_TTY |
                                           SG_CAP_KILL | SG_CAP_DURABLE_DISK | SG_CAP_LOCAL_PATH;
  static constexpr const char* config_schema =
      R"({"type": "object", "properties": {}, "additionalProperties": false})";

  explicit Local(sandglass::Host host)
      : host_(host), processes_(host.service<sg_process_service>(SG_SERVICE_PROCESS)) {
    if (!processes_) throw Error(SG_E_UNSUPPORTED, "this host starts no processes for plugins");
  }

  void create(Call, const sg_sandbox_spec& spec, sandglass::Out id) {
    if (spec.snapshot.len > 0) throw Error(SG_E_UNSUPPORTED, "the local provider has no snapshots");
    Box box{std::string(view(spec.key)), std::string(view(spec.owner)),
            std::string(view(spec.root)), real_directory(view(spec.local_root)), false};
    std::vector<std::string> secrets = variables_of(view(spec.secrets));
    box.has_secrets = !secrets.empty();
    const std::string text = id_of(box);
    id.append(text);
    host_.info("provider local does not isolate: commands run as this user, with " +
               shown(box.path) + " as " + shown(box.root));
    remember(text, std::move(secrets));
  }

  void destroy(Call, std::string_view id) {
    (void)box_of(id);
    const std::lock_guard lock(mutex_);
    boxes_.erase(std::string(id));
  }

  sg_status exec(Call call, std::string_view id, const sg_exec& what, sandglass::Io io,
                 sg_exit& end) {
    const Box box = box_of(id);
    const Fd cwd = try_open(open_workspace(box), below(box, view(what.cwd)), O_PATH | O_DIRECTORY,
                            Links::within);
    if (!cwd && (errno == EXDEV || errno == ELOOP))
      throw errno_error(errno, "start in", view(what.cwd));
    if (!cwd) {
      sg_exit bad{};
      bad.struct_size = end.struct_size;
      bad.how = SG_EXIT_BAD_CWD;
      bad.value = errno;
      std::memcpy(&end, &bad, std::min<size_t>(end.struct_size, sizeof bad));
      return SG_OK;
    }
    const std::string directory = path_of(cwd);
    std::vector<std::string> own = secrets_of(id);
    own.push_back("SANDGLASS_WORKSPACE=" + box.path);
    own.push_back("PWD=" + directory);
    std::vector<sg_bytes> env;
    for (const std::string& entry : own) env.push_back(sandglass::bytes(entry));
    for (size_t i = 0; i < what.envc; ++i) env.push_back(what.env[i]);  // the last of a name wins
    sg_exec local = what;
    local.env = env.data();
    local.envc = env.size();
    local.cwd = sandglass::bytes(directory);
    return processes().run(host_.abi(), call.abi(), &local, io.abi(), &end);
  }

  void list(Call, std::string_view owner, sandglass::HeldSink sink) {
    std::vector<std::string> ids;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [id, secrets] : boxes_) ids.push_back(id);
    }
    for (const std::string& id : ids) {
      const Box box = box_of(id);
      if (box.owner != owner) continue;
      struct stat st;
      sg_held held{};
      held.struct_size = sizeof held;
      held.state = ::stat(box.path.c_str(), &st) == 0 ? SG_HELD_RUNNING : SG_HELD_BROKEN;
      held.id = sandglass::str(id);
      held.key = sandglass::str(box.key);
      held.owner = sandglass::str(box.owner);
      sink.add(held);
    }
  }

  void wait_gone(Call call, std::string_view id) { wait_until_gone(host_, call, box_of(id)); }

  void resume(Call, std::string_view id) {
    const Box box = box_of(id);
    struct stat st;
    if (::stat(box.path.c_str(), &st) < 0 || !S_ISDIR(st.st_mode)) {
      throw Error(SG_E_NOT_FOUND, "the workspace directory " + shown(box.path) + " is gone");
    }
    if (box.has_secrets && secrets_of(id).empty()) {
      host_.warn(
          "the secrets of the sandbox in " + shown(box.path) +
          " are not known to this process: commands run without them until it is made again");
    }
    remember(std::string(id), {});
  }

  void signal(Call, std::string_view id, std::string_view tag, int32_t signo) {
    (void)box_of(id);
    const sg_status sent = processes().signal(host_.abi(), sandglass::str(tag), signo);
    if (sent == SG_OK) return;
    if (sent != SG_E_NOT_FOUND) throw Error(sent, "cannot send signal " + std::to_string(signo));
    if (signal_left(tag, signo) == 0) {
      throw Error(SG_E_NOT_FOUND, "no process with the tag " + shown(tag) + " runs", SG_FAIL_QUIET);
    }
  }

  void resize(Call, std::string_view id, std::string_view tag, uint32_t rows, uint32_t columns) {
    (void)box_of(id);
    const sg_status done = processes().resize(host_.abi(), sandglass::str(tag), rows, columns);
    if (done != SG_OK) {
      throw Error(done, "no command with the tag " + shown(tag) + " runs on a terminal",
                  SG_FAIL_QUIET);
    }
  }

  void local_path(Call, std::string_view id, sandglass::Out path) {
    const Box box = box_of(id);
    (void)open_workspace(box);
    path.append(box.path);
  }
  void stat(Call, std::string_view id, std::string_view path, sg_entry& entry,
            sandglass::Out link) {
    stat_file(box_of(id), path, entry, link);
  }
  void list_dir(Call, std::string_view id, std::string_view path, sandglass::EntrySink sink) {
    list_directory(box_of(id), path, sink);
  }
  void read(Call, std::string_view id, std::string_view path, uint64_t offset, uint64_t max_bytes,
            sandglass::Out out) {
    read_file(box_of(id), path, offset, max_bytes, out);
  }
  void write(Call, std::string_view id, std::string_view path, const sg_entry& as,
             sandglass::Io data) {
    write_file(box_of(id), path, as, data);
  }
  void remove(Call, std::string_view id, std::string_view path) { remove_file(box_of(id), path); }

 private:
  const sg_process_service& processes() const { return *processes_; }
  void remember(std::string id, std::vector<std::string> secrets) {
    const std::lock_guard lock(mutex_);
    std::vector<std::string>& known = boxes_[std::move(id)];
    if (!secrets.empty()) known = std::move(secrets);
  }
  std::vector<std::string> secrets_of(std::string_view id) {
    const std::lock_guard lock(mutex_);
    const auto it = boxes_.find(std::string(id));
    return it == boxes_.end() ? std::vector<std::string>() : it->second;
  }

  sandglass::Host host_;
  const sg_process_service* processes_;
  std::mutex mutex_;
  std::map<std::string, std::vector<std::string>> boxes_;  // id to its secrets as NAME=value
};

}  // namespace local

SANDGLASS_PLUGIN_ABOUT(
    "sandglass.provider.local", "0.1.0", "Apache-2.0", nullptr,
    sandglass::provider<local::Local>("local", "A directory of this machine; isolates nothing"))
