#include "sandbox/store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/filesystem.hpp>
#include <cerrno>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/below.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"

namespace fs = boost::filesystem;

namespace sandglass::sandbox {
namespace {

constexpr char kSchema[] = "1";
constexpr uint64_t kRecordCap = 16 << 20;

std::string default_directory() {
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state && state[0] == '/') return std::string(state) + "/sandglass";
  const char* home = std::getenv("HOME");
  return std::string(home && *home ? home : "/tmp") + "/.local/state/sandglass";
}

Status make_private(const std::string& path) {
  boost::system::error_code code;
  fs::create_directories(fs::path(path).parent_path(), code);
  if (::mkdir(path.c_str(), 0700) < 0 && errno != EEXIST)
    return fail_errno(errno, "cannot make the state directory " + shown(path) +
                                 " (choose another with --state-dir)");
  struct stat st;
  if (::stat(path.c_str(), &st) < 0) return fail_errno(errno, "cannot stat " + shown(path));
  if (!S_ISDIR(st.st_mode)) return fail(Fault::invalid, shown(path) + " is not a directory");
  if (st.st_uid != ::geteuid())
    return fail(Fault::denied, "the state directory " + shown(path) +
                                   " belongs to another user; choose another with --state-dir");
  if ((st.st_mode & 077) && ::chmod(path.c_str(), 0700) < 0)
    return fail_errno(errno, "cannot make " + shown(path) + " private");
  return {};
}

// A file's bytes below a directory, written whole: a reader sees the old or the new, never a part.
Status write_file(const std::string& path, std::string_view bytes) {
  const std::string temporary = path + "." + random_hex(6);
  Fd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd) return fail_errno(errno, "cannot write " + shown(temporary));
  Status written = write_all(fd.get(), bytes);
  if (written && ::fsync(fd.get()) < 0) written = fail_errno(errno, "cannot sync " + shown(path));
  if (written && ::rename(temporary.c_str(), path.c_str()) < 0)
    written = fail_errno(errno, "cannot rename to " + shown(path));
  if (!written) ::unlink(temporary.c_str());
  return written;
}

Result<Fd> open_lock(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd) return fail_errno(errno, "cannot open the lock " + shown(path));
  return fd;
}

Status check_schema(const std::string& directory) {
  const std::string file = directory + "/schema";
  auto root = Root::open(directory);
  if (!root) return tl::unexpected(root.error());
  auto have = root->read("schema", 64);
  if (!have && have.error().fault == Fault::not_found) return write_file(file, kSchema);
  if (!have) return tl::unexpected(have.error());
  std::string text = have->bytes;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  if (text == kSchema) return {};
  return fail(Fault::invalid, "the state directory " + shown(directory) + " has schema " +
                                  shown(text) + ", this sandglass knows " + kSchema +
                                  ": use the newer sandglass, or another --state-dir");
}

std::string to_json(const InstanceRecord& r) {
  JsonWriter w;
  w.open('{').key("id").value(r.id).key("name").value(r.name);
  // Paths are bytes: hex keeps what JSON text cannot.
  w.key("workspace")
      .value(utf8_or_escaped(r.workspace))
      .key("workspaceHex")
      .value(hex(r.workspace));
  w.key("root").value(r.root).key("provider").value(r.provider);
  w.key("providerIdHex").value(hex(r.provider_id)).key("watcher").value(r.watcher);
  w.key("createdNs").value(r.created_ns).key("baseline").raw(r.baseline.to_json());
  w.key("redact").open('[');
  for (const std::string& pattern : r.redact) w.value(pattern);
  w.close(']').close('}');
  return w.take();
}

std::string from_hex(const std::string& text) {
  std::string out;
  for (size_t i = 0; i + 1 < text.size(); i += 2)
    out += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
  return out;
}

Result<InstanceRecord> record_of(const std::string& bytes) {
  try {
    auto j = nlohmann::json::parse(bytes);
    InstanceRecord r;
    r.id = j.at("id").get<std::string>();
    r.name = j.at("name").get<std::string>();
    r.workspace = from_hex(j.at("workspaceHex").get<std::string>());
    r.root = j.at("root").get<std::string>();
    r.provider = j.at("provider").get<std::string>();
    r.provider_id = from_hex(j.at("providerIdHex").get<std::string>());
    r.watcher = j.at("watcher").get<std::string>();
    r.created_ns = j.at("createdNs").get<int64_t>();
    auto baseline = git::Baseline::from_json(j.at("baseline").dump());
    if (!baseline) return tl::unexpected(baseline.error());
    r.baseline = std::move(*baseline);
    r.redact = j.value("redact", std::vector<std::string>());
    return r;
  } catch (const std::exception& e) {
    return fail(Fault::corrupt, e.what());
  }
}

}  // namespace

Result<Store> Store::open(std::string directory) {
  if (directory.empty()) directory = default_directory();
  boost::system::error_code code;
  directory = fs::absolute(directory, code).string();
  for (const char* sub : {"", "/names", "/instances"}) {
    if (auto made = make_private(directory + sub); !made) return tl::unexpected(made.error());
    if (*sub == '\0')
      if (auto known = check_schema(directory); !known) return tl::unexpected(known.error());
  }
  return Store(std::move(directory));
}

std::string Store::folder_of(const std::string& id) const {
  return directory_ + "/instances/" + id;
}
std::string Store::journal_file(const std::string& id) const {
  return folder_of(id) + "/journal.db";
}

Result<Fd> Store::lock_name(const std::string& name) const {
  auto fd = open_lock(directory_ + "/names/" + name + ".lock");
  if (!fd) return fd;
  if (::flock(fd->get(), LOCK_EX | LOCK_NB) < 0)
    return fail(Fault::busy,
                "sandbox " + shown(name) +
                    " is in use by another sandglass process: wait for its run to end, "
                    "or see `sandglass status`");
  return fd;
}

Result<HeldInstance> Store::make_instance(const std::string& stem, const std::string& name,
                                          std::string& id) const {
  HeldInstance held;
  if (!name.empty()) {
    auto lock = lock_name(name);
    if (!lock) return tl::unexpected(lock.error());
    held.name_lock = std::move(*lock);
  }
  for (int attempt = 0; attempt < 64; attempt++) {
    id = stem + "-" + random_hex(attempt < 32 ? 2 : 4);
    held.folder = folder_of(id);
    if (::mkdir(held.folder.c_str(), 0700) == 0) {
      auto lock = open_lock(held.folder + "/lock");
      if (!lock) return tl::unexpected(lock.error());
      if (::flock(lock->get(), LOCK_EX | LOCK_NB) < 0)
        return fail_errno(errno, "cannot lock " + shown(held.folder));
      held.lock = std::move(*lock);
      return held;
    }
    if (errno != EEXIST) return fail_errno(errno, "cannot make " + shown(held.folder));
  }
  return fail(Fault::exists, "no free instance name below " + shown(directory_));
}

void Store::discard(const HeldInstance& held) const {
  boost::system::error_code ignored;
  if (!held.folder.empty()) fs::remove_all(held.folder, ignored);
}

Status Store::save(const HeldInstance& held, const InstanceRecord& record) const {
  return write_file(held.folder + "/instance.json", to_json(record));
}

Result<InstanceRecord> Store::find(const std::string& id) const {
  auto root = Root::open(directory_);
  if (!root) return tl::unexpected(root.error());
  auto file = root->read("instances/" + id + "/instance.json", kRecordCap);
  if (!file)
    return fail(Fault::not_found, "there is no sandbox " + shown(id) + " in " + shown(directory_) +
                                      ": `sandglass status` lists those there are");
  return record_of(file->bytes);
}

std::vector<InstanceRecord> Store::list() const {
  std::vector<InstanceRecord> out;
  boost::system::error_code code;
  for (fs::directory_iterator it(directory_ + "/instances", code), end; !code && it != end;
       it.increment(code)) {
    const std::string id = it->path().filename().string();
    if (!fs::exists(it->path() / "instance.json")) continue;  // not ready yet, or never
    auto record = find(id);
    if (record)
      out.push_back(std::move(*record));
    else
      log::error("instance " + shown(id) +
                 " cannot be read and is left out: " + record.error().text);
  }
  std::sort(out.begin(), out.end(),
            [](const auto& a, const auto& b) { return a.created_ns < b.created_ns; });
  return out;
}

static bool holds(const std::string& workspace, const std::string& directory) {
  if (workspace.empty() || directory.compare(0, workspace.size(), workspace) != 0) return false;
  return directory.size() == workspace.size() || workspace == "/" ||
         directory[workspace.size()] == '/';
}

Result<InstanceRecord> Store::latest(const std::string& directory) const {
  auto all = list();
  for (auto it = all.rbegin(); it != all.rend(); ++it)
    if (holds(it->workspace, directory)) return *it;
  return fail(Fault::not_found, "nothing was recorded for " + shown(directory) +
                                    ": run `sandglass run -- COMMAND` there first, or name an "
                                    "instance with --sandbox (`sandglass status` lists them)");
}

bool Store::owned(const std::string& id) const {
  Fd fd(::open((folder_of(id) + "/lock").c_str(), O_RDWR | O_CLOEXEC));
  return fd && ::flock(fd.get(), LOCK_SH | LOCK_NB) < 0;
}

}  // namespace sandglass::sandbox
